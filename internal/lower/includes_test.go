//go:build unix

package lower

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An input or an included file that is a pipe or a device is an error at its line, and never read:
// a read of a pipe without a writer does not return.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.cu")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	write := func(name, text string) string {
		writeFile(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	write("in.h", "\n#include <pipe.cu>\n")
	for name, want := range map[string]string{
		pipe: "pipe.cu: not a regular file but a pipe",
		write("a.cu", goodKernel+"#include \"/dev/zero\"\n"): "a.cu:2: cannot include /dev/zero: not a " +
			"regular file but a device",
		write("b.cu", "#include \"in.h\"\n"): "in.h:2: cannot include",
	} {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		_, err := File(ctx, name, Options{CacheDir: testCache, Includes: []string{dir}})
		stop()
		var ie *InputError
		if !errors.As(err, &ie) || !strings.Contains(ie.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// clang's crash is not a mistake of the source, and leaves no file behind.
func TestCompilerCrash(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	_, err := File(context.Background(),
		writeSource(t, "k.cu", goodKernel+"#pragma clang __debug crash\n"),
		Options{Compiler: compilers(t)[0], CacheDir: testCache})
	var te *ToolError
	if !errors.As(err, &te) || !strings.Contains(te.Error(), "clang crashed") {
		t.Errorf("%v, want a ToolError", err)
	}
	left, err := os.ReadDir(tmp)
	for _, e := range left {
		if !strings.HasPrefix(e.Name(), "TestCompilerCrash") { // the test's own directory
			t.Errorf("%s is left in the temporary directory", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// Included files are searched to the last one, however many directories are tried for each:
// directories that do not have a header do not count.
func TestManyIncludeDirectories(t *testing.T) {
	dir := t.TempDir()
	const headers = 80
	for i := range headers {
		text := fmt.Sprintf("#include \"h%d.h\"\n", i+1)
		if i == headers-1 {
			text = "#define LOAD(P) __nv_atomic_load_n(P, __NV_ATOMIC_RELAXED)\n"
		}
		writeFile(t, filepath.Join(dir, fmt.Sprintf("h%d.h", i)), text)
	}
	var opt Options
	for i := range 2 * maxIncludes / headers {
		opt.Includes = append(opt.Includes, filepath.Join(dir, fmt.Sprint(i)))
	}
	in := Input{Name: filepath.Join(dir, "k.cu")}
	libs, err := checkIncludes(in, []byte("#include \"h0.h\"\n"), opt)
	if err != nil || !libs.nvAtomic {
		t.Errorf("%+v, %v: the last header was not read", libs, err)
	}
}
