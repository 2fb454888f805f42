package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	broken := errors.New("broken")
	fail := func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	}
	if err := writeFile(path, "", fail); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Fatalf("%v is left", files)
	}
	write := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	for _, s := range []string{"whole", "whole again"} {
		if err := writeFile(path, "", write(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeFile(path, "", fail); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "whole again" {
		t.Fatalf("%q, %v", b, err)
	}
	for _, suffix := range storeSuffixes {
		if err := writeFile(path+suffix, path, write("store")); err == nil {
			t.Fatalf("%q of the store was overwritten", suffix)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Fatalf("%v is left", files)
	}
}

func TestParseAge(t *testing.T) {
	for in, want := range map[string]string{
		"90d": "2160h0m0s", "2w": "336h0m0s", "36h": "36h0m0s", "5m": "5m0s", "0d": "0s",
		"999999999w": maxAge.String(), "99999999999999999999d": maxAge.String(),
	} {
		if d, ok := parseAge(in); !ok || d.String() != want {
			t.Errorf("parseAge(%q) = %v, %v; want %s", in, d, ok, want)
		}
	}
	for _, in := range []string{"", "d", "90", "-5d", "1.5d", "5 d", "5y"} {
		if d, ok := parseAge(in); ok {
			t.Errorf("parseAge(%q) = %v", in, d)
		}
	}
}
