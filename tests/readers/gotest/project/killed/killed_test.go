package killed

import (
	"syscall"
	"testing"
)

func TestEarly(t *testing.T)  {}
func TestKilled(t *testing.T) { syscall.Kill(syscall.Getpid(), syscall.SIGKILL) }
