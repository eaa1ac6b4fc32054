// Package kernels builds the IR of kernels for tests of the packages that work on it. An error in a
// kernel fails the test that asked for it.
package kernels

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// PTX parses a PTX text and returns its module. Positions in the module refer to a file named
// kernels.ptx.
func PTX(t testing.TB, text string) *ir.Module {
	t.Helper()
	return module(t, source.NewSet(), []byte(text))
}

// File lowers a file to PTX with the options opt, and returns its module and the facts about
// launches in its source text. A test that cannot compile the file fails; it is not skipped.
func File(t testing.TB, path string, opt lower.Options) (*ir.Module, *launch.SourceFacts) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	low, err := lower.File(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	set := source.NewSet()
	user, err := set.Add("user"+filepath.Ext(path), text)
	if err != nil {
		t.Fatal(err)
	}
	return module(t, set, low.PTX), launch.Scan(user, nil)
}

// module is Parse for its IR alone.
func module(t testing.TB, set *source.Set, text []byte) *ir.Module {
	t.Helper()
	_, _, m := Parse(t, set, text)
	return m
}

// Parse parses PTX text as the file kernels.ptx of the set and builds its IR. Its messages come with
// the text, so that a failing test shows which of its kernels is invalid.
func Parse(t testing.TB, set *source.Set, text []byte) (*source.File, *ptx.File, *ir.Module) {
	t.Helper()
	file, err := set.Add("kernels.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], text)
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], text)
	}
	return file, tree, m
}
