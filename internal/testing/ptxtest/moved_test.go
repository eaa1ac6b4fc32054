package ptxtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/run"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// The statements of the kernels over mbarriers that synchronize, and those over which they are
// moved; a wait is one line, with the branch of its loop.
var (
	synchronizes = regexp.MustCompile(`^\t(?:W\d+: )?(?:@!?%p\d+ )?(?:fence\.|bar\.|mbarrier\.|` +
		`barrier\.cluster\.|cp\.async\.(?:mbarrier|wait|bulk\.(?:commit|wait)))[^;]*;`)
	matters = regexp.MustCompile(`^\t(?:W\d+: )?(?:@!?%p\d+ )?(?:fence\.|bar\.|mbarrier\.|cp\.|` +
		`barrier\.cluster\.|st\.(?:async|bulk)|red\.async|(?:atom|red)\.shared|` +
		`ld\.shared|st\.shared|ld\.global)[^;]*;`)
	leaves    = regexp.MustCompile(`^\t(?:@!?%p\d+ )?(?:bra|ret|exit)\b`)
	entryLine = regexp.MustCompile(`^\.visible \.entry (\w+)`)
)

// moved is a kernel of which one statement has been moved over the next one that matters.
type moved struct {
	kernel     string
	line, over int // from 0
	text       string
}

// movesOf returns the moves down of each statement that synchronizes, over the next one in its
// block that does something with memory. A move up over a statement is one down of the other, or moves a
// statement over an access: both are made.
func movesOf(lines []string) (out []moved) {
	kernel := ""
	for i, line := range lines {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			kernel = m[1]
		}
		if !matters.MatchString(line) || kernel == "" {
			continue
		}
		for j := i + 1; j < len(lines); j++ {
			next := lines[j]
			if !strings.HasPrefix(next, "\t") || leaves.MatchString(next) {
				break
			}
			if !matters.MatchString(next) {
				continue
			}
			if synchronizes.MatchString(line) || synchronizes.MatchString(next) {
				text := append([]string(nil), lines[:i]...)
				text = append(text, lines[i+1:j+1]...)
				text = append(append(text, line), lines[j+1:]...)
				out = append(out, moved{kernel, i, j, strings.Join(text, "\n")})
			}
			break
		}
	}
	return out
}

// verdictOn returns the verdict on one kernel of a file.
func verdictOn(t *testing.T, path, kernel string, mode check.Mode, seeds int) diag.Verdict {
	t.Helper()
	opt := check.Options{Mode: mode, SkipProof: true, Run: run.Options{Seeds: seeds}}
	opt.Files, opt.MaxSteps, opt.Kernel = source.NewSet(), 500_000, kernel
	sum, err := check.Files(t.Context(), opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil || len(sum.Verdicts) != 1 {
		t.Fatalf("%s: kernel %s: %d verdicts, %v", path, kernel, len(sum.Verdicts), err)
	}
	return sum.Verdicts[0]
}

// rightFile is a file of PTX whose kernels are right.
type rightFile struct {
	path  string
	lines []string
}

// rightFiles returns those of some directories, and those for traces whose names have a prefix.
func rightFiles(t *testing.T, dirs []string, prefixes ...string) (out []rightFile) {
	t.Helper()
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, kernels(t, dir)...)
	}
	for _, path := range kernels(t, traceDir) {
		if slices.ContainsFunc(prefixes, func(p string) bool {
			return strings.HasPrefix(filepath.Base(path), p)
		}) {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".ptx") && (strings.Contains(string(text), "// expect: clean\n") ||
			strings.Contains(string(text), "// expect: verified\n")) {
			out = append(out, rightFile{path, strings.Split(string(text), "\n")})
		}
	}
	return out
}

// TestTraceMoved moves each statement of the right kernels over mbarriers that synchronizes over
// its neighbor. Where the trace still verifies the kernel, the move does no harm: no run in 8 schedules
// may then show a bug.
func TestTraceMoved(t *testing.T) {
	found, kept := 0, 0
	n := 0
	for _, f := range rightFiles(t, []string{mbarrierDir}, "mbarrier", "tensor") {
		path := f.path
		for _, m := range movesOf(f.lines) {
			if n++; !long.All() && n%8 != 0 {
				continue
			}
			mutant := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(mutant, []byte(m.text), 0o644); err != nil {
				t.Fatal(err)
			}
			v := verdictOn(t, mutant, m.kernel, check.Trace, 1)
			if v.Kind != diag.Verified {
				found++
				continue
			}
			kept++
			if strings.Contains(v.Scope, "no trap is executed") || strings.Contains(path, "tensor") ||
				strings.Contains(m.text, "cp.reduce") ||
				strings.Contains(m.text, "cp.async.bulk.global") {
				continue // what the verdict assumes, and what runs do not execute, or race in global memory
			}
			if v := verdictOn(t, mutant, m.kernel, check.Run, 8); v.Kind == diag.Bug {
				t.Errorf("%s:%d: moved behind line %d: verified by a trace, and a run has a bug", path,
					m.line+1, m.over+1)
			}
		}
	}
	t.Logf("%d moves: %d found, %d without harm", n, found, kept)
	if long.All() && (found < 60 || kept < 20) {
		t.Error("the moves show too little")
	}
}
