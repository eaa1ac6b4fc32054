package ptxtest

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

const (
	suiteDir    = "../../../testdata/suite"
	traceDir    = "../../../testdata/trace"
	examplesDir = "../../../examples"
)

// TestSuite runs every kernel of testdata/suite. Each states its expectations and their reason.
func TestSuite(t *testing.T) { runDir(t, suiteDir, 80, seeds(3, 20)) }

// TestTrace traces the kernels of testdata/trace.
func TestTrace(t *testing.T) {
	runFiles(t, traceDir, 30, Config{Seeds: []uint64{0}, Trace: true})
}

// TestExamples runs the programs of examples/: the correct ones are clean, and the planted bugs are
// found with every seed.
func TestExamples(t *testing.T) { runDir(t, examplesDir, 20, seeds(3, 20)) }

// seeds returns 0 to n-1, with a larger n if HEDDLE_LONG is set.
func seeds(few, many int) []uint64 {
	n := few
	if long.All() {
		n = many
	}
	var out []uint64
	for i := range n {
		out = append(out, uint64(i))
	}
	return out
}

func runDir(t *testing.T, dir string, atLeast int, seeds []uint64) {
	runFiles(t, dir, atLeast, Config{Seeds: seeds})
}

func runFiles(t *testing.T, dir string, atLeast int, cfg Config) {
	files := kernels(t, dir)
	if len(files) < atLeast {
		t.Fatalf("%s has %d kernels, expected at least %d", dir, len(files), atLeast)
	}
	for _, path := range files {
		name, _ := filepath.Rel(dir, path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diffs, err := File(t.Context(), path, cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range diffs {
				t.Error(d)
			}
		})
	}
}

// kernels returns the files of kernels below a directory, without those of whole programs, which
// command/exec tests.
func kernels(t *testing.T, dir string) []string {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == filepath.Join(examplesDir, "programs") {
			return filepath.SkipDir
		}
		if err == nil && (strings.HasSuffix(path, ".cu") || strings.HasSuffix(path, ".cl") ||
			strings.HasSuffix(path, ".ptx")) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
