package lower

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMarkColumns converts the column of each byte of a marked text, and compares it with the
// byte's original column.
func TestMarkColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab \n")), 0, 40, -1).Draw(t, "text"))
		var marks []Mark
		at := 0
		for range rapid.IntRange(0, 6).Draw(t, "marks") {
			at = rapid.IntRange(at, len(content)).Draw(t, "offset")
			marks = append(marks, Mark{at, strings.Repeat("#", rapid.IntRange(0, 5).Draw(t, "length"))})
		}
		f, err := mark(Marked{Name: "x", Content: content, Marks: marks})
		if err != nil {
			t.Fatal(err)
		}
		line, col := 1, 1
		origLine, origCol := 1, 1
		left := marks
		from := 0
		for _, c := range f.text {
			for len(left) > 0 && left[0].Offset == from && left[0].Text == "" {
				left = left[1:]
			}
			inMark := len(left) > 0 && left[0].Offset == from
			if got := f.column(line, col); line != origLine || got != origCol {
				t.Fatalf("%q: %d:%d is %d:%d, want %d:%d", f.text, line, col, line, got, origLine, origCol)
			}
			if inMark {
				left[0].Text = left[0].Text[1:]
			} else {
				from++
				if origCol++; c == '\n' {
					origLine, origCol = origLine+1, 1
				}
			}
			if col++; c == '\n' {
				line, col = line+1, 1
			}
		}
		if string(content) != strings.ReplaceAll(string(f.text), "#", "") {
			t.Fatalf("%q is not %q with marks", f.text, content)
		}
	})
}

func TestMarkErrors(t *testing.T) {
	for _, marks := range [][]Mark{{{3, "x"}, {2, "y"}}, {{9, "x"}}, {{-1, "x"}}, {{1, "a\nb"}}} {
		if _, err := mark(Marked{Name: "x", Content: []byte("abcd"), Marks: marks}); err == nil {
			t.Errorf("%v is accepted", marks)
		}
	}
}

const markedKernel = `#include "part.h"
#include "missing_host_header.h"
int main() { undeclared(1); return 0; }
__global__ void k(int *a) { a[0] = 1; a[1] = dev(a); }
`

const markedHeader = "__device__ int dev(int *a) { a[2] = 3; return a[4]; }\n"

// TestMarkedFiles compiles an input whose host part does not compile and a header, both with marks.
// Positions are those of the files without marks.
func TestMarkedFiles(t *testing.T) {
	dir := t.TempDir()
	main, header := filepath.Join(dir, "k.cu"), filepath.Join(dir, "part.h")
	for path, text := range map[string]string{main: markedKernel, header: markedHeader} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	point := func(content, before string, n int) Mark {
		return Mark{strings.Index(content, before),
			fmt.Sprintf(`__asm__ __volatile__(".pragma \"heddle.point %d\";" ::: "memory");`, n)}
	}
	marks := []Marked{
		{main, []byte(markedKernel),
			[]Mark{point(markedKernel, "a[0]", 1), point(markedKernel, "a[1]", 2)}},
		{header, []byte(markedHeader),
			[]Mark{point(markedHeader, "a[2]", 3), point(markedHeader, "return", 4)}},
	}
	cached := Options{CacheDir: t.TempDir()}
	with := cached
	with.Marked = marks
	plain, err := File(t.Context(), main, cached)
	if err != nil {
		t.Fatal(err)
	}
	marked, err := File(t.Context(), main, with)
	if err != nil {
		t.Fatal(err)
	}
	if marked.Cached {
		t.Error("the PTX with marks comes from a cache that never saw them")
	}
	text := string(marked.PTX)
	for n := 1; n <= 4; n++ {
		if p := fmt.Sprintf(`.pragma "heddle.point %d";`, n); strings.Count(text, p) != 1 {
			t.Errorf("%d times %s", strings.Count(text, p), p)
		}
	}
	// Each access has the position that it has without marks.
	for _, access := range []string{"st.global", "ld.global"} {
		a, b := locsOf(string(plain.PTX), access), locsOf(text, access)
		if len(a) == 0 || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s at %v with marks, at %v without", access, b, a)
		}
	}
}

// locsOf returns the .loc before each instruction that starts with op.
func locsOf(ptx, op string) []string {
	var out []string
	loc := ""
	for _, line := range strings.Split(ptx, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ".loc") {
			loc = line
		}
		if strings.HasPrefix(line, op) {
			out = append(out, loc)
		}
	}
	return out
}

// TestAST reads the tree of files with invalid host code, and of OpenCL C that only an older
// version accepts.
func TestAST(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"part.h": markedHeader,
		"k.cu":   markedKernel,
		"old.cl": "kernel void older(global int *a) { int pipe = 1; a[0] = pipe; }\n",
		"new.cl": "kernel void k(global int *a) { int *p = a; atomic_int *q = (atomic_int *)p; p[get_local_id(0)] = 1; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"k.cu": "_Z1kPi", "old.cl": `"name": "older"`,
		"new.cl": `"name": "k"`} {
		var text []byte
		err := AST(t.Context(), Input{Name: filepath.Join(dir, name)}, Options{CacheDir: dir},
			func(tree *Tree) (err error) {
				if tree.OpenCL != strings.HasSuffix(name, ".cl") {
					t.Errorf("%s: OpenCL %v", name, tree.OpenCL)
				}
				if _, ok := tree.User(filepath.Join(dir, "part.h")); !ok {
					t.Error("a header beside the file is not the user's")
				}
				if _, ok := tree.User("/usr/include/stdio.h"); ok {
					t.Error("a header of the system is the user's")
				}
				text, err = io.ReadAll(tree)
				return err
			})
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: error %v, %d bytes without %s", name, err, len(text), want)
		}
	}
	stop := errors.New("enough")
	if err := AST(t.Context(), Input{Name: filepath.Join(dir, "k.cu")}, Options{CacheDir: dir},
		func(*Tree) error { return stop }); err != stop {
		t.Errorf("the error of the reader comes back as %v", err)
	}
	if err := AST(t.Context(), Input{Name: "x.ptx", Content: []byte(".version 8.0\n")}, Options{},
		nil); err == nil {
		t.Error("PTX has a syntax tree")
	}
}

// A build that cannot be prepared, here for a wrong mark, on a full disk for a header that cannot be
// written, is an error, and leaves nothing in the directory for temporary files.
func TestSetUpFails(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	text := []byte("__global__ void k() {}\n")
	_, err := Lower(t.Context(), Input{Name: "k.cu", Content: text}, Options{NoCache: true,
		Marked: []Marked{{Name: "k.cu", Content: text, Marks: []Mark{{Offset: len(text) + 1}}}}})
	if err == nil {
		t.Error("no error")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
