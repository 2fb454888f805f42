// Package browsertest drives Chromium for tests, over the pipe of its DevTools
// protocol: a page is opened, clicked, typed into, asked, and photographed.
package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Missing is why tests are skipped, and how to run them.
const Missing = "no Chromium: install it (Debian: chromium), or set CHROMIUM to the program"

// Browser is a running Chromium without a window.
type Browser struct {
	cmd *exec.Cmd
	dir string
	out *os.File // to it

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	err     error // it is gone
}

type reply struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Find is the program; empty where there is none.
func Find() string {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if name := os.Getenv("CHROMIUM"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// Start runs the program, with a profile of its own.
func Start(program string) (*Browser, error) {
	dir, err := os.MkdirTemp("", "sessiondb-browser")
	if err != nil {
		return nil, err
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(dir, "profile"), "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions", "--hide-scrollbars", "--mute-audio",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // it has none for root
	}
	cmd := exec.Command(program, append(args, "about:blank")...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // its descriptors 3 and 4
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	b := &Browser{cmd: cmd, dir: dir, out: ourOut, waiting: map[int]chan reply{}}
	go b.listen(ourIn)
	if err := b.call("", "Browser.getVersion", nil, nil); err != nil {
		b.Close()
		return nil, fmt.Errorf("%s does not start here: %w %s", program, err, complaint.Bytes())
	}
	return b, nil
}

// Close ends the program and removes its profile.
func (b *Browser) Close() {
	_ = b.call("", "Browser.close", nil, nil)
	_ = b.out.Close()
	_ = b.cmd.Wait()
	_ = os.RemoveAll(b.dir)
}

// listen hands answers to who waits for them. What happens unasked is passed over.
func (b *Browser) listen(in *os.File) {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		b.mu.Lock()
		if err != nil {
			b.err = errors.New("the browser is gone")
			for _, c := range b.waiting {
				close(c)
			}
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		var a reply
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &a) == nil && b.waiting[a.ID] != nil {
			b.waiting[a.ID] <- a
			delete(b.waiting, a.ID)
		}
		b.mu.Unlock()
	}
}

// call sends a command, to a page or to the browser itself, and waits for what it
// answers.
func (b *Browser) call(session, method string, params, result any) error {
	if params == nil {
		params = struct{}{}
	}
	answer := make(chan reply, 1)
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return b.err
	}
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	b.waiting[b.last] = answer
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	a, ok := <-answer
	switch {
	case !ok:
		return b.err
	case a.Error != nil:
		return fmt.Errorf("%s: %s", method, a.Error.Message)
	case result == nil:
		return nil
	}
	return json.Unmarshal(a.Result, result)
}
