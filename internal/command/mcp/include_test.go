package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/testing/long"
)

// pieces are what directives and the ways to hide them consist of. SECRET is the name of a file
// that must not be read.
var pieces = []string{"#", "%:", "??=", "include", "include_next", "import", "embed", "inc", "lude",
	"define X", "X", "if 0", "endif", "pragma", "\n", "\n", "\n", "\r", "\r\n", " ", "\t", "\v", "\f", "\\\n",
	"\\ \n", "\\\r\n", "??/\n", "/*", "*/", "//", "\"SECRET\"", "<SECRET>", "\"SECRET\"\n", "<SECRET>\n",
	"\"", "'", "R\"(", ")\"", "int a;", "#include ", "\n#include \"SECRET\"\n", "\n#define X \"SECRET\"\n",
	"\n#include X\n", "_Pragma(\"once\")", "\xef\xbb\xbf", "\u00a0"}

// Whatever a text makes the preprocessor of clang read is refused: random texts of pieces that may
// hide a directive. Both the output and the messages of clang would show the file.
func TestIncludesAgainstClang(t *testing.T) {
	clang, err := exec.LookPath("clang")
	for n := 14; n < 30 && err != nil; n++ {
		clang, err = exec.LookPath(fmt.Sprintf("clang-%d", n))
	}
	if !long.All() || err != nil {
		t.Skip("runs clang a thousand times; HEDDLE_LONG=1")
	}
	dir, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	write(t, secret, "int LEAKED;\n")
	s, err := New(options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	read, hidden := 0, 0
	for range 1000 {
		var b strings.Builder
		for range 2 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := strings.ReplaceAll(b.String(), "SECRET", secret)
		std := []string{"-std=gnu++17", "-std=c++14", "-std=c++23"}[r.IntN(3)] // with and without trigraphs
		cmd := exec.Command(clang, "-x", "c++", std, "-E", "-")
		cmd.Stdin = strings.NewReader(text)
		out, _ := cmd.CombinedOutput() // most texts are wrong
		leaks := bytes.Contains(out, []byte("LEAKED"))
		in := driver.Input{Input: lower.Input{Name: "text.cu", Content: []byte(text), Lang: lower.CUDA}}
		refused := s.checkIncludes(&in, &lower.Options{}) != nil
		switch {
		case leaks && !refused:
			t.Errorf("clang %s reads the file in %q", std, text)
		case leaks:
			read++
		case !refused && strings.Contains(text, secret):
			hidden++
		}
	}
	if read < 50 || hidden < 50 {
		t.Errorf("%d texts read the file, %d name it without effect: too few to show anything", read, hidden)
	}
	t.Logf("%d texts read the file, %d name it without effect", read, hidden)
}

// FuzzIncludes: a text never panics.
func FuzzIncludes(f *testing.F) {
	f.Add([]byte("#include \"a.h\"\n"), "")
	f.Add([]byte("%: /*\n*/ include_next <../a>\r#include X"), "x/..")
	f.Add([]byte("#include \"\x00\"\n#include <"), "")
	dir := f.TempDir()
	r, err := openRoots([]string{dir}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, include string) {
		c := &includes{roots: r, dirs: []string{include}, seen: map[string]bool{}}
		_ = c.text("text.cu", dir, text)
		for _, p := range c.work {
			if !r.contains(p) {
				t.Errorf("%q would be read", p)
			}
		}
	})
}

// FuzzLine: a line is a message, or has an answer of one line that is valid JSON, or is blank.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"jsonrpc": "2.0", "id": 1, "method": "ping"}`))
	f.Add([]byte(`{"id": "\u0000`))
	f.Add([]byte(`{"id": 1e999}`))
	f.Add([]byte(`[{"id": {}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		msg, wrong := decodeMessage(line{text: bytes.TrimSpace(text)})
		switch {
		case msg == nil && wrong == nil:
			if len(bytes.TrimSpace(text)) > 0 {
				t.Errorf("%q has no answer", text)
			}
		case wrong != nil && (!json.Valid(wrong) || bytes.ContainsRune(wrong, '\n')):
			t.Errorf("%q has the answer %q", text, wrong)
		}
	})
}
