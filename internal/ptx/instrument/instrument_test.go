package instrument

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// module is a parsed PTX text.
type module struct {
	file *source.File
	tree *ptx.File
	mod  *ir.Module
}

// read parses PTX. Errors fail the test.
func read(t *testing.T, text []byte) module {
	t.Helper()
	set := source.NewSet()
	file, err := set.Add("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v at %v\n%s", errs[0], set.Format(errs[0].Span.Start), text)
	}
	mod, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatalf("%v at %v\n%s", errs[0], set.Format(errs[0].Span.Start), text)
	}
	return module{file, tree, mod}
}

// instrumented rewrites a module.
func instrumented(t *testing.T, m module, opt Options) *Result {
	t.Helper()
	r, err := Module(m.file, m.tree, m.mod, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOutputIsPTX instruments every kernel of the suite and the examples, under all combinations of
// options. The result must be PTX that our parser and irgen accept, and print as it is.
func TestOutputIsPTX(t *testing.T) {
	kernels, refused := 0, 0
	for _, dir := range []string{"../../../testdata/suite", "../../../examples"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "programs" {
				return fs.SkipDir
			}
			if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".cu" && ext != ".ptx" && ext != ".cl" {
				return err
			}
			low, err := lower.File(t.Context(), path, lower.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := read(t, low.PTX)
			for _, opt := range []Options{{}, {Fixed: true, Private: true, Separate: true}, {Lockstep: true, Values: true, Queues: 2, Slots: 128}} {
				r := instrumented(t, m, opt)
				stable(t, r.Text)
				for _, k := range r.Kernels {
					kernels++
					if k.Reason != "" {
						refused++
						if opt.Queues > 0 {
							t.Logf("%s: %s: %s", path, k.Func.Demangled, k.Reason)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kernels instrumented, %d refused", kernels-refused, refused)
	if kernels-refused < 400 {
		t.Errorf("%d kernels instrumented, at least 400 are expected", kernels-refused)
	}
}

// stable checks that text is valid, and is what printing it gives.
func stable(t *testing.T, text []byte) module {
	t.Helper()
	m := read(t, text)
	var b bytes.Buffer
	if err := ptx.Print(&b, m.tree); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), text) {
		t.Errorf("the text changes when it is printed again")
	}
	return m
}

func TestShow(t *testing.T) {
	path := os.Getenv("SHOW")
	if path == "" {
		t.Skip()
	}
	low, err := lower.File(t.Context(), path, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := instrumented(t, read(t, low.PTX), Options{Lockstep: true})
	t.Log(strings.ReplaceAll(string(r.Text), "\t", "  "))
	for _, k := range r.Kernels {
		t.Logf("%+v", k)
	}
}
