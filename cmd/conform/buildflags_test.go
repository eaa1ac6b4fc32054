package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBuildFlags reads flags of build files in the forms that programs have them: of a directory
// above the file, behind variables that refer to others, over several lines. Flags of which a part
// is unknown are left out, and comments are none.
func TestBuildFlags(t *testing.T) {
	for _, c := range []struct {
		name, file, text  string
		includes, defines string
	}{
		{"literal", "Makefile", "CFLAGS = -Iinc -DREAL=float -I /abs # -Ino\n", "inc /abs", "REAL=float"},
		{"neighbours", "Makefile", "F := -DA -DB -I one -Itwo\n", "one two", "A B"},
		{"variables", "Makefile", "DIR = src\nINC ?= ${DIR}/inc\nmain:\n\tnvcc -I$(INC) -DN=$(N) -c\n",
			"src/inc", ""},
		{"self", "Makefile", "F = $(F) -I$(F)x\nG = -Ig $(G)\n", "g", ""},
		{"continued", "Makefile", "F = -Ia \\\n  -Ib\n", "a b", ""},
		{"first value", "Makefile", "D = a\nD = b\nall:\n\tnvcc -I$(D)\n", "a", ""},
		{"cmake", "CMakeLists.txt", "add(NAME x\n  INCLUDE_DIRS a ${CMAKE_CURRENT_LIST_DIR}/b\n" +
			"  SOURCES c)\n# include_directories(d)\ninclude_directories(SYSTEM \"e\" ${OTHER}/f)\n" +
			"add_definitions(-DX=1 -D${Y})\n", "a b e", "X=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, d := range []string{"src/deep", "a", "b", "c", "d", "e"} {
				if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, name := range strings.Fields(c.includes) {
				if !filepath.IsAbs(name) {
					name = filepath.Join(dir, name)
				}
				want = append(want, name)
			}
			f := buildFlags(filepath.Join(dir, "src", "deep", "k.cu"))
			if !slices.Equal(f.Includes, want) {
				t.Errorf("includes %q, want %q", f.Includes, want)
			}
			if want := strings.Fields(c.defines); !slices.Equal(f.Defines, want) {
				t.Errorf("defines %q, want %q", f.Defines, want)
			}
		})
	}
}

// TestParts finds the files that others include, also those that no .cu file includes: these need
// not compile alone.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p/main.cpp":      "#include \"kernels.cu\"\n",
		"p/kernels.cu":    "",
		"p/lib/use.h":     "#include \"impl/part.cu\"\n",
		"p/other/part.cu": "",
		"p/impl/part.cu":  "",
		"p/whole.cu":      "#include <vector>\n",
		"q/kernels.cu":    "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var list []Outcome
	for _, name := range []string{"p/kernels.cu", "p/other/part.cu", "p/impl/part.cu", "p/whole.cu",
		"q/kernels.cu"} {
		list = append(list, Outcome{Case: &Case{Name: name, File: filepath.Join(dir, name)}})
	}
	got := parts(list)
	for i, want := range []bool{true, false, true, false, false} {
		if k := list[i].Case; got[k.File] != want {
			t.Errorf("%s: part of another file: %v, want %v", k.Name, got[k.File], want)
		}
	}
}
