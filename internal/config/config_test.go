package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/source"
)

func read(t *testing.T, text string) (*File, []error) {
	t.Helper()
	src, err := source.NewSet().Add("proj/heddle.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parse(src, false)
}

func TestParse(t *testing.T) {
	f, errs := read(t, `
include = ["src/**/*.cu"]
exclude = ["third_party"]
engine = "check"
fail-on = "warning"
timeout = "20s"

[compile]
includes = ["include", "/abs"]
defines = ["N=4"]
std = "c++17"
arch = "sm_80"
opt-level = 3
address-bits = 32

[[kernel]]
name = "reduce*"
file = "src/r.cu"
grid = 64
block = [8, 8]
shared = "48K"
args = { n = 1024, x = 1.5, in = "random:4096", on = true, w = "file:w.bin", row = "csr:4,9" }
engine = "verify"
timeout = 2.5

[[kernel]]
name = "scratch"
skip = "needs real data"
`)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	shared := uint32(48 << 10)
	want := Kernel{
		Name: "reduce*", File: "src/r.cu", Engine: "verify", Timeout: 2500 * time.Millisecond,
		Launch: launch.Request{Grid: &event.Dim3{X: 64, Y: 1, Z: 1}, Block: &event.Dim3{X: 8, Y: 8, Z: 1}, Shared: &shared},
	}
	if f.Engine != "check" || f.FailOn != "warning" || f.Timeout != 20*time.Second || !reflect.DeepEqual(f.Include, []string{"src/**/*.cu"}) {
		t.Errorf("%+v", f)
	}
	if c := f.Compile; !reflect.DeepEqual(c, Compile{Includes: []string{"proj/include", "/abs"}, Defines: []string{"N=4"}, Std: "c++17", Arch: "sm_80", OptLevel: "3", Bits: 32}) {
		t.Errorf("%+v", c)
	}
	k := f.Kernels[0]
	var args []string
	for _, a := range k.Launch.Args {
		if got := a.Span.Start.Line(); got != 22 {
			t.Errorf("%s is in line %d, expected 22", a.Param, got)
		}
		args = append(args, a.String())
	}
	// Sorted by name; a file: is relative to the configuration.
	if got := strings.Join(args, " "); got != "in=random:4096 n=1024 on=1 row=csr:4,9 "+
		"w=file:proj/w.bin x=1.5" {
		t.Errorf("arguments %s", got)
	}
	if k.Span.Start.Line() != 17 {
		t.Errorf("the table is in line %d, expected 17", k.Span.Start.Line())
	}
	k.Launch.Args, k.Span = nil, source.Span{}
	if !reflect.DeepEqual(k, want) {
		t.Errorf("%+v", k)
	}
	if f.Kernels[1].Skip != "needs real data" {
		t.Errorf("%+v", f.Kernels[1])
	}
}

// Each mistake is named, at its place; of a string that is where its text starts.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, place, msg string }{
		{"x = [1,", "1:", "array is incomplete"},
		{"[[kernel]]\nname = 'a'\ngird = 8\n", "3:1", "unknown key kernel.gird"},
		{"a = 1\nb = 2\n", "1:1", "unknown key a"},
		{"a = 1\nb = 2\n", "2:1", "unknown key b"},
		{"include = 'x'", "1:11", "expected a list, found a string"},
		{"include = [3, []]", "1:", "expected a string or a number"},
		{"exclude = ['[']", "1:13", "not a valid file name pattern"},
		{"[[kernel]]\nname='a'\ngrid = 'x'\n", "3:9", "x"},
		{"[[kernel]]\nname='a'\nblock = [1, 'b']\n", "3:14", "expected a whole number"},
		{"[[kernel]]\nname='a'\nblock = {x=1}\n", "3:", "expected a string or a number"},
		{"[[kernel]]\nname='a'\n\nengine = 'magic'\n", "4:11", `engine "magic": expected run, verify, trace or check`},
		{"[[kernel]]\nname='a'\ntimeout = '-3s'\n", "3:12", "is not a duration"},
		{"[compile]\nopt-level = 4\n", "2:13", "expected 1, 2 or 3"},
		{"[compile]\naddress-bits = 16\n", "2:16", "expected 32 or 64"},
		{"[[kernel]]\nname='a'\nargs = { n = 1, m = 'file:' }\n", "3:17", "m"},
		{"[[kernel]]\nname='a'\n[kernel.args]\n'odd name' = 'zero:x'\n", "4:1", "odd name"},
		{"include = []\n\n[[kernel]]\ngrid = 1\n", "3:3", "this [[kernel]] has no name"},
		{"[[kernel]]\nname='a'\nname='b'\n", "", "already defined"},
		{"[[kernel]]\nname='a'\ngrid=1\n[[kernel]]\nname='b'\ngrid='x'\n", "6:7", "x"},
		{"[[kernel]]\nname='a'\nblock = []\n", "3:9", ""},
		{"[[kernel]]\nname='a'\nargs = { n = [1] }\n", "3:14", "expected a string or a number, found an array"},
		{"compile = 3\n", "1:11", "expected a table, found an integer"},
		{"[[kernel]]\nname='a'\nargs = [1]\n", "3:8", "expected a table, found an array"},
		{"[[compile]]\nstd='x'\n", "1:3", "expected a table, [name]; found a list of tables, [[name]]"},
		{"[[kernel]]\nname='a'\n[[kernel.args]]\nn=1\n", "3:3", "expected a table, [name]; found a list"},
		{"[[kernel]]\nname='a'\n[kernel.file]\n", "3:2", "expected a string or a number; found a table"},
		{"[[kernel.argsernel]]\n", "1:3", "unknown key kernel.argsernel"},
		{"[[kernel]]\nname=\"a\\q\"\n", "2:", "escape"},
		{"[[kernel]]\nname=\"a\\u12\"\n", "2:", "unicode"},
		{"[[kernel]]\nname=\"a\\U00110000\"\n", "2:", "unicode"},
		{"[[kernel]]\nname=\"a\\", "2:8", "need a character after"},
		{"[[kernel]]\nname='a'\n[kernel.args]\n\"a\\u0062\" = 'zero:x'\n", "4:1", "ab"},
	} {
		_, errs := read(t, c.text)
		found := false
		for _, err := range errs {
			e := err.(*Error)
			if strings.HasPrefix(e.Span.Start.String(), c.place) && strings.Contains(e.Msg, c.msg) {
				found = true
			}
		}
		if !found {
			var got []string
			for _, err := range errs {
				got = append(got, fmt.Sprintf("%v: %v", err.(*Error).Span.Start, err))
			}
			t.Errorf("%q: expected %s: %s; got %q", c.text, c.place, c.msg, got)
		}
	}
}

func TestChecks(t *testing.T) {
	f := &File{Path: "heddle.toml", Include: []string{"src/**/*.cu", "one.ptx"}, Exclude: []string{"src/old", "**/gen_*"}}
	for name, want := range map[string]bool{
		"src/a.cu": true, "./src/deep/er/a.cu": true, "one.ptx": true, "two.ptx": false, "src/a.cl": false,
		"src/old/a.cu": false, "src/x/gen_a.cu": false, "src/older/a.cu": true, "../elsewhere.cu": true,
	} {
		if got := f.Checks(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFor(t *testing.T) {
	f := &File{Path: "heddle.toml", Kernels: []Kernel{{Name: "reduce*"}, {Name: "reduce<float, ?>*", File: "a/*.cu"}, {Name: "_Z4scan*"}, {Name: "exact"}}}
	for _, c := range []struct {
		file, mangled, demangled string
		want                     int
	}{
		{"a/x.cu", "_Z6reduce", "reduce<float, 4>(int*)", 2},
		{"b/x.cu", "_Z6reduce", "reduce<float, 4>(int*)", 1},
		{"b/x.cu", "_Z4scanPi", "scan(int*)", 1},
		{"b/x.cu", "_Z5exactPi", "exact(int*)", 1},
		{"b/x.cu", "_Z7exactlyPi", "exactly(int*)", 0},
	} {
		if got := f.For(c.file, c.mangled, c.demangled); len(got) != c.want {
			t.Errorf("%s in %s: %d tables", c.demangled, c.file, len(got))
		}
	}
}

func TestFind(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "checkout")
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(filepath.Join(deep, Name), 0o755); err != nil { // a directory of that name does not count
		t.Fatal(err)
	}
	want := filepath.Join(dir, Name)
	if err := os.WriteFile(want, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// Without a checkout, only the directory itself counts.
	if got, err := Find(deep); err != nil || got != "" {
		t.Errorf("%s, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(deep); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	// A file above the root of the checkout does not belong to it.
	if err := os.Rename(want, filepath.Join(above, Name)); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(deep); err != nil || got != "" {
		t.Errorf("%s, %v", got, err)
	}
}

// Paths of file: and systems stay in the checkout, unless the file is trusted. A symbolic link may
// leave it too.
func TestTrust(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "checkout", "sub")
	for _, d := range []string{dir, filepath.Join(top, "checkout", ".git"), filepath.Join(top, "data")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "data"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, Name)
	for text, inside := range map[string]bool{
		"[compile]\nsystems = ['../inc']\n":                        true,
		"[compile]\nsystems = ['../../data']\n":                    false,
		"[compile]\nsystems = ['/usr/include']\n":                  false,
		"[compile]\nsystems = ['link']\n":                          false,
		"[compile]\nincludes = ['/usr/include']\n":                 true,
		"[compile]\ncccl = '../inc'\n":                             true,
		"[compile]\ncccl = '/usr/include'\n":                       false,
		"[[kernel]]\nname='k'\nargs = { w = 'file:../w.bin' }\n":   true,
		"[[kernel]]\nname='k'\nargs = { w = 'file:/etc/hosts' }\n": false,
		"[[kernel]]\nname='k'\nargs = { w = 'file:link/w' }\n":     false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, errs := Read(source.NewSet(), path, false)
		switch {
		case inside && len(errs) > 0:
			t.Errorf("%q: %v", text, errs)
		case !inside && (len(errs) != 1 || !strings.Contains(errs[0].Error(), "--trust allows")):
			t.Errorf("%q: %v, want one error", text, errs)
		}
		if _, errs := Read(source.NewSet(), path, true); len(errs) > 0 {
			t.Errorf("%q: %v, although trusted", text, errs)
		}
	}
}

// Whatever a file says, reading it ends, with a message where it is wrong.
// Any text is a configuration or has mistakes, each with a message of one line and a place in the
// file.
func FuzzParse(f *testing.F) {
	f.Add("[[kernel.argsernel]]\n[compile]\nincludes=[\"a\\u0062\\n\", 'b']\n")
	f.Add("[[kernel]]\nname=\"\"\"a\\\n b\"\"\"\nengine='run'\ntimeout='3s'\nargs={a=[1],\"b\\q\"={}}\n")
	f.Add("[compile]\nstd=1\n[[compile]]\nkernel=3\ngrid=[[1],nan]\n\xff")
	f.Add("include = ['a']\n[[kernel]]\nname='x'\nargs={n=1}\ngrid=[1,2]\n")
	f.Add("[[kernel]]\n[kernel.args]\n\"a.b\" = 3\n[kernel.args.c]\n")
	f.Fuzz(func(t *testing.T, text string) {
		src, err := source.NewSet().Add("heddle.toml", []byte(text))
		if err != nil {
			return
		}
		c, errs := parse(src, false)
		if (c == nil) != (len(errs) > 0) {
			t.Errorf("%v, %v", c, errs)
		}
		for _, err := range errs {
			var e *Error
			if !errors.As(err, &e) || e.Msg == "" || strings.Contains(e.Msg, "\n") {
				t.Fatalf("%T %q", err, err)
			}
			if line := e.Span.Start.Line(); line < 1 || line > src.NumLines()+1 {
				t.Errorf("%q is in line %d of %d", e.Msg, line, src.NumLines())
			}
		}
	})
}
