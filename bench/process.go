package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// spent is what a process took.
type spent struct {
	wall, cpu float64 // seconds
	peak      float64 // bytes, the most it held in memory
	stdout    []byte
}

// spawn runs a program to its end. Its output is kept only if asked for, since
// catching it takes time of this process.
func spawn(ctx context.Context, keep bool, name string, args ...string) (s spent, err error) {
	if name == "" {
		return s, errors.New("not built")
	}
	cmd := exec.CommandContext(ctx, name, args...)
	var out, stderr bytes.Buffer
	cmd.Stderr = &stderr
	if keep {
		cmd.Stdout = &out
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	done := make(chan float64)
	stop := make(chan struct{})
	go func() { done <- watchPeak(cmd.Process.Pid, stop) }()
	err = cmd.Wait()
	s.wall = time.Since(start).Seconds()
	close(stop)
	s.peak = <-done
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	s.stdout = out.Bytes()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return s, err
}

// watchPeak reads the high-water mark of a process's memory until it ends. The
// kernel's figure for a finished child is no use: it begins with ours.
func watchPeak(pid int, stop <-chan struct{}) (peak float64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return peak
		case <-tick.C:
			if kb, ok := procField(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:"); ok {
				peak = max(peak, kb*1024)
			}
		}
	}
}

// bytesRead is how many bytes this process has read from files so far.
func bytesRead() float64 {
	n, _ := procField("/proc/self/io", "rchar:")
	return n
}

func procField(path, name string) (float64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, err := strconv.ParseFloat(f[0], 64)
				return n, err == nil
			}
		}
	}
	return 0, false
}
