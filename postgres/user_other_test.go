//go:build !unix

package postgres

import "syscall"

func unprivileged(string) (*syscall.SysProcAttr, error) { return nil, nil }
