package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

var updateDocs = flag.Bool("update", false, "write what the commands in the documents print now into them (make docs)")

// TestDocs runs each command that a document shows: in a block
//
//	```console
//	$ heddle check examples/reduce_racy.cu
//	... what it prints, both streams, in the root of the repository ...
//	```
//
// A line of dots alone stands for lines that are left out.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	t.Chdir("../..")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	docs, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, name := range append(docs, "README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		rest := string(text)
		for {
			before, after, found := strings.Cut(rest, "```console\n")
			out.WriteString(before)
			if !found {
				break
			}
			block, tail, closed := strings.Cut(after, "```\n")
			if !closed {
				t.Fatalf("%s: a console block without end", name)
			}
			commands++
			out.WriteString("```console\n" + console(t, name, block) + "```\n")
			rest = tail
		}
		if *updateDocs {
			if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(text), out.String()); diff != "" {
			t.Errorf("%s is not what heddle prints; make docs writes it anew:\n%s", name, diff)
		}
	}
	if commands == 0 {
		t.Error("no document shows a command")
	}
}

// console returns a block as it would be now.
func console(t *testing.T, name, block string) string {
	t.Helper()
	line, want, _ := strings.Cut(block, "\n")
	words, ok := strings.CutPrefix(line, "$ heddle ")
	if !ok {
		t.Fatalf("%s: %q: expected $ heddle ...", name, line)
	}
	var got bytes.Buffer
	run(strings.Fields(words), strings.NewReader(""), &got, &got)
	text := strings.TrimRight(got.String(), "\n") + "\n"
	if kept, ok := leaveOut(text, want); ok {
		text = kept
	}
	return line + "\n" + text
}

// dots stands for lines that a document leaves out.
const dots = "..."

// leaveOut leaves the same lines out as a document does; ok is false if the document leaves out none, or its parts are
// not there.
func leaveOut(got, doc string) (string, bool) {
	parts := split(strings.SplitAfter(doc, "\n"))
	if len(parts) < 2 {
		return "", false
	}
	lines := strings.SplitAfter(got, "\n")
	var out []string
	for i, p := range parts {
		at := find(lines, p)
		if at < 0 || i == 0 && at > 0 {
			return "", false
		}
		if i > 0 {
			out = append(out, dots+"\n")
		}
		out = append(out, lines[at:at+len(p)]...)
		lines = lines[at+len(p):]
	}
	return strings.Join(out, ""), true
}

// split splits lines at those that are dots.
func split(lines []string) [][]string {
	parts := [][]string{nil}
	for _, l := range lines {
		if strings.TrimSpace(l) == dots {
			parts = append(parts, nil)
		} else if l != "" {
			parts[len(parts)-1] = append(parts[len(parts)-1], l)
		}
	}
	return parts
}

func find(lines, part []string) int {
	for i := 0; i+len(part) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

func TestLeaveOut(t *testing.T) {
	for _, c := range []struct{ got, doc, want string }{
		{"a\nb\nc\nd\n", "a\n...\nd\n", "a\n...\nd\n"},
		{"a\nb\nc\n", "a\n...\n", "a\n...\n"},
		{"a\nb\n", "x\n...\nb\n", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\nc\n", "a\n...\nx\n", ""},
	} {
		got, ok := leaveOut(c.got, c.doc)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q, %q: %q, %v", c.got, c.doc, got, ok)
		}
	}
}

// TestCommandsDoc holds docs/commands.md to what the program says of itself: so every command and flag is documented.
func TestCommandsDoc(t *testing.T) {
	var b bytes.Buffer
	root := newRoot(nil, &b, &b)
	if err := reference(&b, root); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	current(t, "docs/commands.md", b.String())
	for _, cmd := range root.Commands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(b.String(), "--"+f.Name) || f.Usage == "" {
				t.Errorf("%s --%s is not documented", cmd.CommandPath(), f.Name)
			}
		})
	}
}

// TestKernelsInDocs examines each kernel that a document shows, in a block
//
//	```cuda
//	// heddle COMMAND FLAGS: KIND
//
// and holds its verdict to the first line.
func TestKernelsInDocs(t *testing.T) {
	if testing.Short() || !hasClang() {
		t.Skip("compiles kernels")
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```(cuda|opencl)\n(// heddle ([^\n]*): ([a-z]+)\n.*?)```\n")
	kernels := 0
	for _, name := range docs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			kernels++
			file := filepath.Join(t.TempDir(), "kernel"+map[string]string{"cuda": ".cu", "opencl": ".cl"}[m[1]])
			if err := os.WriteFile(file, []byte(m[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			run(append(strings.Fields(m[3]), "--no-config", "--format", "json", file), strings.NewReader(""), &out, &errs)
			if _, verdicts := results(t, out.Bytes()); len(verdicts) != 1 || verdicts[0] != m[4] {
				t.Errorf("%s: %s: verdicts %v\n%s%s", name, m[2], verdicts, out.String(), errs.String())
			}
		}
	}
	if kernels == 0 {
		t.Error("no document shows a kernel")
	}
}

// TestIndex holds docs/README.md to the documents that there are.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range docs {
		if base := filepath.Base(name); base != "README.md" && !strings.Contains(string(index), "]("+base+")") {
			t.Errorf("docs/README.md does not name %s", base)
		}
	}
}

// TestManual writes the manual pages and looks into them.
func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	var out bytes.Buffer
	if code := run([]string{"man", dir}, nil, &out, &out); code != exitClean || out.Len() > 0 {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "heddle-check.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`--new-from`, ".SH EXAMPLE"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "heddle.1")); err != nil {
		t.Error(err)
	}
}

// TestCompletion asks as a shell does: the words of a flag, and the codes.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "--format", ""}, "text\njson\nsarif\ngithub\ngitlab\njunit\n:4\n"},
		{[]string{"explain", "race-sh"}, "race-shared\ttwo threads"},
		{[]string{"explain", "race-shared", ""}, ":4\n"},
		{[]string{"tra"}, "trace\tverify barriers"},
	} {
		var out, errs bytes.Buffer
		run(append([]string{"__complete"}, c.args...), nil, &out, &errs)
		if !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%q: %q", c.args, out.String())
		}
	}
	var out bytes.Buffer
	if code := run([]string{"completion", "bash"}, nil, &out, &out); code != exitClean || !strings.Contains(out.String(), "__start_heddle") {
		t.Errorf("exit code %d, %d bytes", code, out.Len())
	}
}

// whyNoProof is the part of a result that depends on which solver was there, and how fast it was.
var whyNoProof = regexp.MustCompile(`(there is no proof: |no run showed it )[^"\n<]*`)

// TestExampleReports checks all of examples/ and compares the report in each format with what docs/examples shows.
func TestExampleReports(t *testing.T) {
	if testing.Short() {
		t.Skip("checks all examples")
	}
	t.Chdir("../..")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	site = noSite // the same reports under every path of the module
	defer func() { site = "" }()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	flags := "--html " + in("report.html") +
		" --report json=" + in("check.jsonl") + " --report sarif=" + in("check.sarif")
	var text, errs bytes.Buffer
	if code := run(strings.Fields("check "+flags+" examples"), strings.NewReader(""), &text, &errs); code != exitBugs {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	current(t, "docs/examples/check.txt", text.String())
	for _, name := range []string{"check.jsonl", "check.sarif", "report.html"} {
		got, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		current(t, "docs/examples/"+name, strings.Replace(string(got), flags, "--html report.html", 1))
	}
}

// current compares a file of the documents with what it should be.
func current(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.FromSlash(name)
	got = whyNoProof.ReplaceAllString(got, "$1...")
	if *updateDocs {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not what heddle prints; make docs writes it anew:\n%.4000s", name, diff)
	}
}
