package project

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"heddle/internal/lower"
)

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.cu", "a/z.PTX", "a/k.cuh", "a/k.h", "a/notes.txt", "a-b/k.cl", "c/k.ll", "c/k.bc",
		"c.cu/k.cu", ".hidden/k.cu", ".k.cu", "vendor/k.cu",
		"ABCD/tmp.pid_12_ab/k.ptx",
		"x/vendor/k.cu", "node_modules/k.cu", "build/k.cu", "cmake-build-debug/k.cu",
		"obj/CMakeCache.txt", "obj/k.cu", "cache/CACHEDIR.TAG", "cache/k.cu", "builder/k.cu")
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Log(err)
	}
	got, err := Walk(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], dir+"/")
	}
	// The order of names within each directory.
	want := []string{"a/z.PTX", "a-b/k.cl", "b.cu", "builder/k.cu", "c/k.bc", "c/k.ll", "c.cu/k.cu"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, err := Walk(filepath.Join(dir, "build")); err != nil || len(got) != 1 {
		t.Errorf("a build tree on the command line: %q, %v", got, err)
	}
	if got, err := Walk(filepath.Join(dir, "loop", "a")); err != nil || len(got) != 1 {
		t.Errorf("below a link: %q, %v", got, err)
	}
	if got, err := Walk(filepath.Join(dir, "loop")); err != nil || len(got) != len(want) ||
		got[0] != filepath.Join(dir, "loop", "a", "z.PTX") {
		t.Errorf("a link: %q, %v", got, err)
	}
	if _, err := Walk(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "k.cu")
	for arg, want := range map[string]string{"./...": ".", "...": ".", "a/b/...": "a/b", "/...": "/",
		dir: dir, dir + "/k.cu": "", dir + "/nope": "", "-": ""} {
		if got, ok := Directory(arg); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", arg, got, ok)
		}
	}
}

func TestSplitCommand(t *testing.T) {
	for s, want := range map[string][]string{
		`nvcc  -DA="x y" k.cu`:        {"nvcc", "-DA=x y", "k.cu"},
		`nvcc -DS=\"str\" 'a "b" \n'`: {"nvcc", `-DS="str"`, `a "b" \n`},
		`a "\$x \q" b\ c ""`:          {"a", `$x \q`, "b c", ""},
		"a\tb\n":                      {"a", "b"},
		"":                            nil,
		`tail\`:                       {`tail\`},
	} {
		got, err := splitCommand(s)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", s, got, err, want)
		}
	}
	if _, err := splitCommand(`a "b`); err == nil || !strings.Contains(err.Error(), "not closed") {
		t.Errorf("open quote: %v", err)
	}
}

// Splitting recovers words that need quotes in a shell, whichever way they are quoted.
func TestSplitQuoted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("aB1 \t\"'\\$`=-,/.é"))), 0,
			6).Draw(r, "words")
		var quoted []string
		for _, w := range words {
			switch rapid.IntRange(0, 2).Draw(r, "how") {
			case 0:
				w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			case 1:
				w = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(w) + `"`
			default:
				var b strings.Builder
				for _, c := range []byte(w) {
					b.WriteByte('\\')
					b.WriteByte(c)
				}
				if w = b.String(); w == "" {
					w = `''`
				}
			}
			quoted = append(quoted, w)
		}
		got, err := splitCommand(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(got, words) {
			r.Fatalf("%q: %q, %v", quoted, got, err)
		}
	})
}

// database writes a compile_commands.json into dir/build and reads it.
func database(t *testing.T, dir string, commands ...map[string]any) (*Database, error) {
	t.Helper()
	text, err := json.Marshal(commands)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "build/compile_commands.json")
	if err := os.WriteFile(filepath.Join(dir, "build", "compile_commands.json"), text,
		0o600); err != nil {
		t.Fatal(err)
	}
	return ReadDatabase(filepath.Join(dir, "build"))
}

// The spellings of both compilers are read; paths are relative to the directory of the command.
func TestDatabaseFlags(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "build/local.h", "flags.rsp", "nested.rsp")
	if err := os.WriteFile(filepath.Join(dir, "flags.rsp"),
		[]byte("-DRSP=1\n-I 'from rsp' @nested.rsp"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "nested.rsp"), []byte("-DNESTED"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(p ...string) (out []string) {
		for _, s := range p {
			out = append(out, filepath.Join(dir, s))
		}
		return out
	}
	for _, c := range []struct {
		name    string
		args    []string
		want    lower.Flags
		dropped []string
	}{
		{"clang", []string{"clang++", "-x", "cuda", "-Ia", "-I", "b", "-isystem", "/abs", "-isystemsys",
			"-iquote", "q", "-DX=1", "-D", "Y", "-UZ", "-U", "W", "-std=c++17", "-include", "build/local.h",
			"-include", "cfg.h", "-c", "k.cu", "-o", "k.o"},
			lower.Flags{Std: "c++17", Includes: in("a", "b", "q"),
				Systems: append([]string{"/abs"}, in("sys")...), Defines: []string{"X=1", "Y"},
				Undefines: []string{"Z", "W"}, Forced: append(in("build/local.h"), "cfg.h")},
			[]string{"-o k.o"}},
		{"nvcc", []string{"/usr/local/cuda/bin/nvcc", "--include-path=a,b", "--include-path", "c",
			"-isystem=/usr/include,s", "--system-include", "t", "--define-macro=A=1,B", "--define-macro",
			"C", "--undefine-macro=D", "-std", "c++14", "--pre-include", "cfg.h", "-gencode",
			"arch=compute_80,code=sm_80", "-Xcompiler", "-DNOT", "-O3", "-x", "cu", "-c", "k.cu"},
			lower.Flags{Std: "c++14", Includes: in("a", "b", "c"),
				Systems: append([]string{"/usr/include"}, in("s", "t")...), Defines: []string{"A=1", "B", "C"},
				Undefines: []string{"D"}, Forced: []string{"cfg.h"}},
			[]string{"-gencode arch=compute_80,code=sm_80", "-Xcompiler -DNOT", "-O3"}},
		{"the last counts", []string{"clang", "-DA=1", "-UA", "-UB", "-DB=2", "-DC=1", "-DC=2", "k.cu"},
			lower.Flags{Defines: []string{"B=2", "C=2"}, Undefines: []string{"A"}}, nil},
		{"commas are clang's own", []string{"clang", "-DF(a,b)=a", "k.cu"},
			lower.Flags{Defines: []string{"F(a,b)=a"}}, nil},
		{"alike but others", []string{"clang", "-stdlib=libc++", "-include-pch", "x.pch", "-fno-rtti",
			"-MF", "-Inot", "k.cu"}, lower.Flags{},
			[]string{"-stdlib=libc++", "-include-pch", "x.pch", "-fno-rtti", "-MF -Inot"}},
		{"response files", []string{"nvcc", "@flags.rsp", "--options-file", "nested.rsp",
			"-optf=gone.rsp", "k.cu"}, lower.Flags{Includes: in("from rsp"),
			Defines: []string{"RSP=1", "NESTED"}}, []string{"@gone.rsp"}},
		{"no value", []string{"clang", "k.cu", "-I"}, lower.Flags{}, []string{"-I"}},
	} {
		for _, form := range []string{"arguments", "command"} {
			cmd := map[string]any{"directory": dir, "file": "k.cu", "arguments": c.args}
			if form == "command" {
				delete(cmd, "arguments")
				cmd["command"] = "'" + strings.Join(c.args, "' '") + "'"
			}
			db, err := database(t, dir, cmd)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			want := []Entry{{filepath.Join(dir, "k.cu"), c.want, c.dropped}}
			if diff := cmp.Diff(want, db.Entries); diff != "" {
				t.Errorf("%s, %s: (-want +got)\n%s", c.name, form, diff)
			}
		}
	}
}

// The entries are the CUDA files in order, without duplicates. A directory may be relative to the
// database, and a file to that directory.
func TestDatabaseEntries(t *testing.T) {
	dir := t.TempDir()
	db, err := database(t, dir,
		map[string]any{"directory": "../src", "file": "b.cu", "command": "nvcc -DFIRST -c b.cu"},
		map[string]any{"directory": "../src", "file": "main.cpp", "command": "g++ -c main.cpp"},
		map[string]any{"directory": dir, "file": filepath.Join(dir, "src/as_cuda.cpp"),
			"command": "clang++ -x cuda -c src/as_cuda.cpp"},
		map[string]any{"directory": dir, "file": "src/../src/b.cu", "command": "nvcc -DSECOND -c b.cu"},
		map[string]any{"directory": dir, "file": "a.CU", "arguments": []string{"nvcc"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range db.Entries {
		got = append(got, strings.TrimPrefix(e.Path, dir+"/")+fmt.Sprint(e.Flags.Defines))
	}
	if want := []string{"src/b.cu[FIRST]", "src/as_cuda.cpp[]", "a.CU[]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Chdir(dir)
	if e := db.Lookup("src/b.cu"); e == nil || e.Flags.Defines[0] != "FIRST" {
		t.Errorf("lookup by a relative name: %+v", e)
	}
	if db.Lookup("src/main.cpp") != nil || db.Lookup("nope.cu") != nil {
		t.Error("an entry for what is none")
	}
}

func TestDatabaseMistakes(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadDatabase(dir); err == nil ||
		!strings.Contains(err.Error(), "CMAKE_EXPORT_COMPILE_COMMANDS") {
		t.Errorf("none: %v", err)
	}
	path := filepath.Join(dir, "compile_commands.json")
	for text, want := range map[string]string{
		"[\n  {]\n":          "compile_commands.json:2:4: invalid character",
		`[{"file": 3}]`:      "compile_commands.json:1:11: ",
		`[{"command": "x"}]`: `command 1: the object has no "file"`,
		`[{"file": "k.cu", "command": "nvcc 'x"}]`: "command 1: the quote ' is not closed",
		`[{"file": "k.cu", "directory": "` + dir +
			`", "command": "nvcc @loop.rsp"}]`: "response files are nested more than 8 levels deep",
	} {
		write(t, dir, "loop.rsp")
		if err := os.WriteFile(filepath.Join(dir, "loop.rsp"), []byte("@loop.rsp"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadDatabase(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Reading any database terminates, and an invalid one yields a message.
func FuzzDatabase(f *testing.F) {
	f.Add(
		`[{"directory": "/x", "file": "k.cu", "command": "nvcc -I a,b -DX='1 2' @r --pre-include h -x cu k.cu"}]`)
	f.Add(
		`[{"file": "k.cu", "arguments": ["clang", "-isystem", "a", "-UX", "-std=c++17", "-Xclang"]}]`)
	f.Add(`[{"file": "k.cu", "command": "a \\\" b"}]`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "compile_commands.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := ReadDatabase(dir)
		if err != nil {
			return
		}
		for _, e := range db.Entries {
			if !filepath.IsAbs(e.Path) || db.Lookup(e.Path) == nil {
				t.Fatalf("entry %q", e.Path)
			}
			for _, d := range e.Flags.Includes {
				if !filepath.IsAbs(d) {
					t.Fatalf("directory %q is relative", d)
				}
			}
		}
	})
}
