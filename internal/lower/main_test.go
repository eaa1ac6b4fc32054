package lower

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testCache is shared by the tests of one run, so that the embedded headers are written once.
var testCache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "heddle-lower-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testCache = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// compilers returns the clangs to test with: the preferred or newest one, and the oldest installed
// if that is another. If there is none, the test is skipped, or fails in CI.
func compilers(t *testing.T) []string {
	t.Helper()
	var found []string
	for n := newestClang; n >= minClang; n-- {
		name := fmt.Sprintf("clang-%d", n)
		if _, err := findToolchain(context.Background(), name, &probeCache{testCache}); err == nil {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		if _, err := findToolchain(context.Background(), "", &probeCache{testCache}); err == nil {
			return []string{""}
		}
		if os.Getenv("CI") != "" {
			t.Fatal("no clang found, and CI is set: install clang-19 and llvm-19")
		}
		t.Skip("needs clang and llvm, version 14 or later: apt-get install clang-19 llvm-19")
	}
	first := found[0]
	if _, err := exec.LookPath("clang-19"); err == nil {
		first = "clang-19"
	}
	if last := found[len(found)-1]; last != first {
		return []string{first, last}
	}
	return []string{first}
}

// eachCompiler runs f as a subtest for each compiler.
func eachCompiler(t *testing.T, f func(t *testing.T, compiler string)) {
	t.Helper()
	for _, c := range compilers(t) {
		t.Run(c, func(t *testing.T) { f(t, c) })
	}
}

// writeSource writes source text to a new directory.
func writeSource(t *testing.T, name, src string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// lowerSource lowers source text, failing the test with the compiler's output.
func lowerSource(t *testing.T, src string, opt Options) *Result {
	t.Helper()
	if opt.CacheDir == "" {
		opt.CacheDir = testCache
	}
	r, err := File(context.Background(), writeSource(t, "k.cu", src), opt)
	var ce *CompileError
	var te *ToolError
	switch {
	case errors.As(err, &ce):
		t.Fatalf("does not compile:\n%s", ce.Output)
	case errors.As(err, &te):
		t.Fatalf("%v\n%s", err, te.Output)
	case err != nil:
		t.Fatal(err)
	}
	return r
}

// count returns how many instructions of the PTX match a pattern, anchored at the opcode.
func count(ptx []byte, pattern string) int {
	re := regexp.MustCompile(`^(@!?%\w+\s+)?(` + pattern + `)`)
	n := 0
	for _, line := range strings.Split(string(ptx), "\n") {
		if re.MatchString(strings.TrimSpace(line)) {
			n++
		}
	}
	return n
}
