package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/driver"
	"heddle/internal/lower"
)

// A path is inside if what it leads to is below a root, whatever its spelling.
func TestRoots(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root := filepath.Join(dir, "root")
	write(t, filepath.Join(root, "sub", "a.cu"), "")
	write(t, filepath.Join(root, "-b.cu"), "")
	write(t, filepath.Join(outside, "secret.cu"), "")
	for link, to := range map[string]string{
		"out": outside, "file.cu": filepath.Join(outside, "secret.cu"), "in": "sub", "none": filepath.Join(outside, "none"),
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	r, err := openRoots([]string{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const refused, missing = "is outside of the roots", "does not exist"
	for path, want := range map[string]string{
		"sub/a.cu":                         "",
		"sub":                              "",
		".":                                "",
		"sub/../sub/a.cu":                  "",
		"in/a.cu":                          "", // a link that stays inside
		"-b.cu":                            "",
		filepath.Join(root, "sub", "a.cu"): "",
		"../root/sub/a.cu":                 "",
		"sub/b.cu":                         missing,
		"-":                                missing, // not the standard input
		"..":                               refused,
		"../other":                         refused,
		"out/secret.cu":                    refused,
		"out/none":                         refused, // the same as for what exists
		"file.cu":                          refused,
		"none":                             refused,
		outside:                            refused,
		"/etc/passwd":                      refused,
		"sub/\x00":                         refused,
		root + "2":                         refused, // a prefix is no parent
	} {
		got, err := r.find(path)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v; want %q", path, err, want)
		case want == "" && strings.HasPrefix(got, "-"):
			t.Errorf("%q is opened as %q, a flag", path, got)
		}
	}
	if _, err := openRoots([]string{filepath.Join(root, "sub", "a.cu")}, nil); err == nil {
		t.Error("a file is a root")
	}
	none, _ := openRoots(nil, nil)
	if _, err := none.find("a.cu"); err == nil || !strings.Contains(err.Error(), "--root") {
		t.Errorf("without roots: %v", err)
	}
}

// What a text may include. The compiler would quote a line of each refused file.
func TestIncludes(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "ok.h"), "#include \"deeper.h\"\n")
	write(t, filepath.Join(dir, "deeper.h"), "// nothing\n")
	write(t, filepath.Join(dir, "bad.h"), "\n#include <"+outside+"/secret.h>\n")
	write(t, filepath.Join(dir, "mutual.h"), "#include \"mutual.h\"\n")
	write(t, filepath.Join(outside, "secret.h"), "secret\n")
	if err := os.Symlink(filepath.Join(outside, "secret.h"), filepath.Join(dir, "link.h")); err != nil {
		t.Skip(err)
	}
	s, err := New(options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	const refused, macro = "is outside of the roots", "write its name instead of a macro"
	secret := outside + "/secret.h"
	for text, want := range map[string]string{
		"":                                       "",
		"#include \"ok.h\"":                      "",
		"#include \"mutual.h\"":                  "", // ends
		"#include <cuda_runtime.h>":              "", // the compiler's
		"#include <cub/cub.cuh>":                 "",
		"#include <none.h>":                      "",
		"// see #include below":                  "",
		"/* the\n * #include A\n */":             "",
		"const char *s = \"#include <a>\";":      "",
		"#define include 1\n#if include\n#endif": "",

		"#include \"" + secret + "\"":                   refused,
		"#include <" + secret + ">":                     refused,
		" \t# \t include\t<" + secret + ">":             refused,
		"#include_next <" + secret + ">":                refused,
		"#import <" + secret + ">":                      refused,
		"int a[] = {\n#embed \"" + secret + "\"\n};":    refused,
		"%:include <" + secret + ">":                    refused,
		"??=include <" + secret + ">":                   refused,
		"#inc\\\nlude <" + secret + ">":                 refused,
		"#inc\\ \t\r\nlude <" + secret + ">":            refused,
		"#inc??/\nlude <" + secret + ">":                refused,
		"int a;\r#include <" + secret + ">":             refused,
		"/* a */ # /* b\nc */ include <" + secret + ">": refused,
		"/* a\n*/ #include <" + secret + ">":            refused,
		"R\"(/*)\"\n#include <" + secret + ">\n//*/":    refused,
		"#include \"bad.h\"":                            refused,
		"#include \"link.h\"":                           refused,
		"#include <../../../../etc/passwd>":             refused, // climbs out of a system directory
		"#include \"../none.h\"":                        refused,
		"#include </etc/passwd>":                        refused,
		"#define H </etc/passwd>\n#include H":           macro,
		"#include":                                      macro,
		"#include \"a":                                  macro,
	} {
		in := driver.Input{Input: lower.Input{Name: "text.cu", Content: []byte(text), Lang: lower.CUDA}}
		in.Flags.Includes = s.roots.dirs
		err := s.checkIncludes(&in, &lower.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	in := driver.Input{Input: lower.Input{Name: filepath.Join(dir, "bad.h")}}
	if err := s.checkIncludes(&in, &lower.Options{}); err == nil || !strings.Contains(err.Error(), "bad.h:2: ") {
		t.Errorf("a file: %v", err)
	}
	for _, opt := range []lower.Options{{Includes: []string{outside}}, {Systems: []string{outside}}, {CCCL: outside}} {
		if err := s.checkIncludes(&in, &opt); err == nil || !strings.Contains(err.Error(), "include directory") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	// Directories of the user who starts the server are not confined.
	trusting := options(t, dir)
	trusting.Lower.Includes = []string{outside}
	if s, err = New(trusting); err != nil {
		t.Fatal(err)
	}
	in = driver.Input{Input: lower.Input{Name: "text.cu", Content: []byte("#include <secret.h>"), Lang: lower.CUDA}}
	if err := s.checkIncludes(&in, &trusting.Lower); err != nil {
		t.Errorf("a header of the user: %v", err)
	}
}

// Nothing of a file outside of the roots is in a result, whatever names it: an argument, a comment,
// the position of an instruction.
func TestConfined(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	write(t, secret, strings.Repeat("password\n", 40))
	write(t, filepath.Join(dir, "data"), strings.Repeat("public12", 40))
	c := connect(t, options(t, dir), nil)
	located := strings.Replace(strings.Replace(racy, "\tst.global", "\t.loc 1 3 1\n\tst.global", 1),
		".visible", ".file 1 \""+secret+"\"\n.visible", 1)
	comment := strings.Replace(racy, ".visible", "// heddle: out=file:"+secret+"\n.visible", 1)
	withArg := ptx(racy)
	withArg["args"] = []string{"out=file:" + secret}
	for name, args := range map[string]map[string]any{"position": ptx(located), "comment": ptx(comment), "argument": withArg} {
		r := callTool(t, c, "check", args)
		if strings.Contains(r.text, "password") {
			t.Errorf("%s: %s", name, r.text)
		}
		if refused := strings.Contains(r.text, "outside of"); refused != (name != "position") {
			t.Errorf("%s: %s", name, r.text)
		}
	}
	// With trust, what a text names is read.
	trusting := options(t, dir)
	trusting.Trust = true
	if r := callTool(t, connect(t, trusting, nil), "check", ptx(comment)); r.object["verdict"] != "bug" {
		t.Errorf("trusted: %s", r.text)
	}
	inside := ptx(racy)
	inside["args"] = []string{"out=file:data"}
	if r := callTool(t, c, "check", inside); r.object["verdict"] != "bug" {
		t.Errorf("a file inside: %+v", r)
	}
}
