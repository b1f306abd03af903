package hang

import "testing"

func TestQuick(t *testing.T) {}
func TestHangs(t *testing.T) { select {} }
