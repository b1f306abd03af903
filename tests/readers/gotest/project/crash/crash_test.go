package crash

import "testing"

func TestBefore(t *testing.T) {}
func TestPaused(t *testing.T) { t.Parallel() }
func TestPanics(t *testing.T) { panic("out of ideas") }
func TestAfter(t *testing.T)  {}
