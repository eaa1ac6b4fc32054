package ptx

import (
	"os"
	"path/filepath"
	"testing"
)

// testFiles returns the files of testdata, which between them use every construct of the grammar.
func testFiles(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no test files (%v)", err)
	}
	return names
}

func TestRoundTrip(t *testing.T) {
	for _, name := range testFiles(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, name, mustParse(t, name, text))
	}
}
