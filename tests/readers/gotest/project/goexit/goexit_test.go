package goexit

import (
	"fmt"
	"os"
	"testing"
)

func TestFirst(t *testing.T) {}
func TestLeaves(t *testing.T) {
	fmt.Println("--- PASS: TestLeaves (0.00s)")
	os.Exit(1)
}
