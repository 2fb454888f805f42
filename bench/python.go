package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed baseline/documented.py
var documented string

// python is a process that runs the documented operations.
type python struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// answer is what the process reports of one operation.
type answer struct {
	Seconds, Longest float64
	Bytes            float64
	N                int
	IDs              []any
	Python, SQLite   string
}

func startPython(ctx context.Context, dir string) (*python, error) {
	script := filepath.Join(dir, "documented.py")
	if err := os.WriteFile(script, []byte(documented), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "python3", script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &python{cmd, in, bufio.NewReader(out)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = p.do(map[string]any{"op": "version"})
	return p, err
}

// do runs one operation and returns what the process measured.
func (p *python) do(request map[string]any) (a answer, err error) {
	b, err := json.Marshal(request)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return a, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("python: %w", err)
	}
	return a, json.Unmarshal(line, &a)
}

func (p *python) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// repeat runs one operation n times and returns the answer with the median time.
func (p *python) repeat(n int, request map[string]any) (a answer, err error) {
	list := make([]float64, n)
	for i := range list {
		if a, err = p.do(request); err != nil {
			return a, err
		}
		list[i] = a.Seconds
	}
	a.Seconds = median(list)
	return a, nil
}
