package nobuild

import "testing"

func TestUnbuilt(t *testing.T) { undefined() }
