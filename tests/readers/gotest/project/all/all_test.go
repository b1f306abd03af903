package all

import (
	"fmt"
	"os"
	"testing"
)

func TestPass(t *testing.T)  {}
func TestFail(t *testing.T)  { t.Error("one is not two") }
func TestFatal(t *testing.T) { t.Fatal("stop") }
func TestSkip(t *testing.T)  { t.Skip("not here: (0.00s)") }
func TestLog(t *testing.T)   { t.Log("--- PASS: TestLogged (0.00s)") }

func TestNames(t *testing.T) {
	for _, name := range []string{
		"with blank", "a[1]", `say "hi" it's`, "héllo☃", "new\nline", "tab\tbell\a", "", "",
		"twice", "twice", "f(x) (0.01s)", "a/b/c", "%d", "back\\slash", "x#01",
	} {
		t.Run(name, func(t *testing.T) {})
	}
	t.Run("deep", func(t *testing.T) {
		t.Run("er", func(t *testing.T) { t.Error("down here") })
		t.Run("skipped", func(t *testing.T) { t.Skip() })
	})
}

func TestParallelA(t *testing.T) { t.Parallel(); fmt.Println("from a") }
func TestParallelB(t *testing.T) { t.Parallel(); fmt.Println("from b"); t.Fail() }
func TestGroup(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) { t.Parallel(); fmt.Println("in a group") })
	}
}

func TestNoNewline(t *testing.T)     { fmt.Print("half a line") }
func TestNoNewlineFail(t *testing.T) { fmt.Print("half a line"); t.Fail() }
func TestNoNewlineSub(t *testing.T) {
	fmt.Print("before")
	t.Run("sub", func(t *testing.T) { fmt.Print("inside") })
}

func TestForged(t *testing.T) {
	fmt.Println("--- PASS: TestNobody (0.00s)")
	fmt.Println("    --- PASS: TestForged/nobody (0.00s)")
	fmt.Println("--- FAIL: TestNobodyEither (0.00s)")
}

func TestForgedSelf(t *testing.T) {
	fmt.Println("--- PASS: TestForgedSelf (0.00s)")
	t.Fail()
}
func TestPhantom(t *testing.T) { fmt.Fprintln(os.Stderr, "=== RUN   TestPhantomed") }
func TestControl(t *testing.T) {
	fmt.Println("\x1b[31mred\x1b[0m \x00 nul \xff byte \r--- PASS: TestPass (0.00s)")
}

func Example_hello() {
	fmt.Println("hello")
	// Output: hello
}

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) {
		if n == 2 {
			t.Error("two")
		}
	})
}
