package main

import (
	"bytes"
	"os"
	"testing"
)

// The table in the repository is what the rules of the repository make.
func TestTable(t *testing.T) {
	source, err := os.ReadFile("../../internal/redact/gitleaks.toml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := table(source)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../internal/redact/rules_gitleaks.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("rules_gitleaks.go is another one; run go generate ./internal/redact")
	}
}
