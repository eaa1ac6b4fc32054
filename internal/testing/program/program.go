// Package program builds CUDA programs for tests, as heddle exec does.
package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/lower"
)

// Builder returns a builder, or skips the test if there is no clang.
func Builder(t testing.TB) *lower.Builder {
	t.Helper()
	return builder(t, lower.BuildOptions{})
}

// builder is Builder with options.
func builder(t testing.TB, opt lower.BuildOptions) *lower.Builder {
	t.Helper()
	b, err := lower.NewBuilder(t.Context(), opt)
	var missing *lower.MissingToolError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Build builds source files into a program and returns its path. It skips the test if the machine
// has no clang or no C++ library.
func Build(t testing.TB, files ...string) string {
	t.Helper()
	return BuildFor(t, "", files...)
}

// BuildFor is Build for an architecture; empty is the default one.
func BuildFor(t testing.TB, arch string, files ...string) string {
	t.Helper()
	return build(t, arch, (*lower.Builder).Link, files)
}

// Dynamic is BuildFor for a program that loads the CUDA runtime as a shared library.
func Dynamic(t testing.TB, arch string, files ...string) string {
	t.Helper()
	return build(t, arch, (*lower.Builder).LinkDynamic, files)
}

// build compiles files and links them.
func build(t testing.TB, arch string, link func(b *lower.Builder, ctx context.Context, inputs,
	args []string, out string) error, files []string) string {
	t.Helper()
	var opt lower.BuildOptions
	opt.Arch = arch
	opt.Separate = len(files) > 1
	b, dir := builder(t, opt), t.TempDir()
	var objects []string
	for i, f := range files {
		o := filepath.Join(dir, fmt.Sprintf("%d.o", i))
		if _, err := b.Object(t.Context(), f, o, false); err != nil {
			Fail(t, err)
		}
		objects = append(objects, o)
	}
	out := filepath.Join(dir, "program")
	if err := link(b, t.Context(), objects, nil, out); err != nil {
		Fail(t, err)
	}
	return out
}

// OfText is Build for the text of one CUDA file.
func OfText(t testing.TB, text string) string {
	t.Helper()
	return OfTextFor(t, "", text)
}

// OfTextFor is BuildFor for the text of one CUDA file.
func OfTextFor(t testing.TB, arch, text string) string {
	t.Helper()
	return BuildFor(t, arch, Source(t, text))
}

// Source writes the text of a CUDA file and returns its path.
func Source(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.cu")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Fail ends the test with the messages of the compiler, or skips it if what is missing is the
// machine's C++ library.
func Fail(t testing.TB, err error) {
	t.Helper()
	var ce *lower.CompileError
	if errors.As(err, &ce) {
		if strings.Contains(ce.Help, "install it") {
			t.Skip(ce.Help)
		}
		t.Fatalf("%v\n%s", err, ce.Output)
	}
	t.Fatal(err)
}
