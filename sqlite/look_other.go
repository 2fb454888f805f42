//go:build !linux

package sqlite

import "os"

func lookThrough(path string, was os.FileInfo) (bool, error) { return lookBy(os.Stat)(path, was) }
func lookAt(path string, was os.FileInfo) (bool, error)      { return lookBy(os.Lstat)(path, was) }
