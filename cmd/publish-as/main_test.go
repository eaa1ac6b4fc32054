package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"heddle/internal/testing/long"
)

// write makes files below a new directory: name, text, name, text.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		put(t, filepath.Join(dir, files[i]), []byte(files[i+1]))
	}
	return dir
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// read returns the text of a file.
func read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRename: imports, the module directive and the repository are renamed; the program, strings of
// Go, C headers and names that only resemble the repository are not. A second name replaces the
// first.
func TestRename(t *testing.T) {
	const source = `package p

import (
	"github.com/b/b"
	"heddle/a"
	// The decoder.
	isa "heddle/internal/isa"
	"heddled/x"
)

// Package heddle/a has it.
const name = "heddle/a"
`
	const manifest = `{"name": "heddle", "publisher": "OWNER", "url": "github.com/OWNER/heddle.git"}`
	dir := write(t, "go.mod", "// Comment.\nmodule heddle\n\ngo 1.26\n", "a/a.go", source,
		"README.md", "`heddle/a` uses: OWNER/heddle@v1, github.com/OWNER/heddle.git, OWNER/heddle\n"+
			"x-OWNER/heddle OWNER/heddle-action OWNER/heddle_x\n",
		"editors/vscode/package.json", manifest, "editors/vscode/node_modules/m/package.json", manifest,
		"testdata/broken.go", "not Go: heddle/a", "image", "\x00OWNER/heddle", ".git/config",
		"OWNER/heddle", "bin/x", "OWNER/heddle")
	for _, step := range []struct{ path, slug, group string }{
		{"github.com/alice/heddle", "alice/heddle", `	"github.com/alice/heddle/a"
	"github.com/b/b"
	// The decoder.
	isa "github.com/alice/heddle/internal/isa"
	"heddled/x"
`},
		{"github.com/bob/loom", "bob/loom", `	"github.com/b/b"
	"github.com/bob/loom/a"
	// The decoder.
	isa "github.com/bob/loom/internal/isa"
	"heddled/x"
`},
	} {
		var out, errs bytes.Buffer
		if code := run([]string{"-C", dir, step.path}, &out, &errs); code != 0 {
			t.Fatalf("exit code %d\n%s", code, errs.String())
		}
		if want := "README.md\na/a.go\neditors/vscode/package.json\ngo.mod\n"; out.String() != want {
			t.Errorf("changed %q, want %q", out.String(), want)
		}
		if want := "// Comment.\nmodule " + step.path + "\n\ngo 1.26\n"; read(t, dir, "go.mod") != want {
			t.Errorf("go.mod: %s", read(t, dir, "go.mod"))
		}
		_, got, _ := strings.Cut(read(t, dir, "a/a.go"), "import (\n")
		want := step.group + ")\n\n// Package heddle/a has it.\nconst name = \"heddle/a\"\n"
		// gofmt sorts within runs of lines, which a comment ends.
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		want = "`heddle/a` uses: " + step.slug + "@v1, github.com/" + step.slug + ".git, " + step.slug +
			"\nx-OWNER/heddle OWNER/heddle-action OWNER/heddle_x\n"
		if diff := cmp.Diff(want, read(t, dir, "README.md")); diff != "" {
			t.Error(diff)
		}
	}
	for name, want := range map[string]string{"image": "\x00OWNER/heddle",
		".git/config": "OWNER/heddle", "bin/x": "OWNER/heddle",
		"testdata/broken.go": "not Go: heddle/a"} {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestNoHome: a path that the go command, or the workflow that uses the action, could not fetch
// changes nothing.
func TestNoHome(t *testing.T) {
	dir := write(t, "go.mod", "module heddle\n")
	for _, path := range []string{"", "heddle", "github.com/alice", "github.com/alice/heddle/v2",
		"github.com/OWNER/heddle", "https://github.com/alice/heddle", "gitlab.com/alice/heddle",
		"github.com/al ice/heddle", "github.com//heddle"} {
		var out, errs bytes.Buffer
		if code := run([]string{"-C", dir, path}, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", path, code, errs.String())
		}
	}
	for _, args := range [][]string{{}, {"-C", t.TempDir(), "github.com/alice/heddle"}, {"a", "b"}} {
		if code := run(args, &bytes.Buffer{}, &bytes.Buffer{}); code != 2 {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	if got := read(t, dir, "go.mod"); got != "module heddle\n" {
		t.Errorf("go.mod: %q", got)
	}
}

// TestSite: the address of the documents stays unless it is given, and becomes that of Pages again.
func TestSite(t *testing.T) {
	const before, after = "package main\n\n// site.\n", "\n\nvar other string\n"
	dir := write(t, "go.mod", "module heddle\n", siteFile, before+"var site string"+after)
	for _, step := range []struct{ site, want, says string }{
		{"none", `var site = "none"`, "remove .github/workflows/site.yml"},
		{"", `var site = "none"`, ""},
		{"https://heddle.example/docs/", `var site = "https://heddle.example/docs/"`, ""},
		{"pages", "var site string", ""},
	} {
		args := []string{"-C", dir, "github.com/alice/heddle"}
		if step.site != "" {
			args = append([]string{"-site", step.site}, args...)
		}
		var errs bytes.Buffer
		if code := run(args, &bytes.Buffer{}, &errs); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", step.site, code, errs.String())
		}
		if got := read(t, dir, siteFile); got != before+step.want+after {
			t.Errorf("%q: %s", step.site, got)
		}
		if got := errs.String(); strings.Contains(got, "site.yml") != (step.says != "") ||
			!strings.Contains(got, step.says) {
			t.Errorf("%q: says %s", step.site, got)
		}
	}
	for _, site := range []string{"heddle.example", "ftp://h/x", "https://", "https://h/?x", "no\"ne"} {
		if code := run([]string{"-site", site, "-C", dir, "github.com/bob/loom"}, &bytes.Buffer{},
			&bytes.Buffer{}); code != 2 {
			t.Errorf("%q: exit code %d", site, code)
		}
	}
	if got := read(t, dir, "go.mod"); got != "module github.com/alice/heddle\n" {
		t.Errorf("go.mod: %q", got)
	}
	put(t, filepath.Join(dir, siteFile), []byte("package main\n"))
	if code := run([]string{"-site", "none", "-C", dir, "github.com/bob/loom"}, &bytes.Buffer{},
		&bytes.Buffer{}); code != 2 {
		t.Errorf("without the declaration: exit code %d", code)
	}
}

// checkout copies the files that git tracks, and new ones that it does not ignore.
func checkout(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("no checkout: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(cmd.Dir, name))
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

// TestPublish publishes a copy of this module through a module proxy of files, as a tag would, and
// installs it from there by its name. The metadata for users points to the same place.
func TestPublish(t *testing.T) {
	if !long.All() {
		t.Skip("builds everything anew; HEDDLE_LONG=1")
	}
	const path, version = "github.com/alice/heddle", "v0.1.0"
	dir := checkout(t)
	changed, err := rename(dir, path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files changed", len(changed))
	if ci := read(t, dir, "docs/ci.md"); strings.Count(ci, "uses: alice/heddle@v1") != 2 {
		t.Error("docs/ci.md: the action is elsewhere")
	}
	for name, want := range map[string]string{
		"docs/ci.md":      "repo: https://github.com/alice/heddle\n",
		"docs/install.md": "go install github.com/alice/heddle/cmd/heddle@latest\n",
	} {
		if got := read(t, dir, name); !strings.Contains(got, want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	proxy := t.TempDir()
	at := filepath.Join(proxy, path, "@v")
	var z bytes.Buffer
	if err := zip.CreateFromDir(&z, module.Version{Path: path, Version: version}, dir); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(at, version+".zip"), z.Bytes())
	put(t, filepath.Join(at, version+".mod"), []byte(read(t, dir, "go.mod")))
	put(t, filepath.Join(at, version+".info"), []byte(`{"Version":"`+version+`"}`))
	put(t, filepath.Join(at, "list"), []byte(version+"\n"))

	modcache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(strings.TrimSpace(string(modcache)), "cache", "download")
	bin := t.TempDir()
	// A cache of modules of its own: the test must not leave a version of heddle in the user's.
	env := append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+known, "GONOSUMDB=*",
		"GOMODCACHE="+filepath.Join(bin, "mod"), "GOFLAGS=-modcacherw", "GOBIN="+bin)
	for _, c := range []struct {
		dir  string
		args []string
	}{
		{dir, []string{"vet", "./cmd/...", "./internal"}},
		{bin, []string{"install", path + "/cmd/heddle@" + version}},
		{bin, []string{"install", path + "/cmd/heddle@latest"}},
	} {
		cmd := exec.Command("go", c.args...)
		cmd.Dir, cmd.Env = c.dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(c.args, " "), err, out)
		}
	}
	out, err := exec.Command(filepath.Join(bin, "heddle"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "heddle "+version+" ") {
		t.Errorf("heddle version: %v\n%s", err, out)
	}
	// The installed program knows where its documents are. The exit code 2 is that of the missing file.
	out, _ = exec.Command(filepath.Join(bin, "heddle"), "check", "--format", "sarif", "no.ptx").Output()
	if !strings.Contains(string(out), `"helpUri": "https://alice.github.io/heddle/codes/race-shared.html"`) {
		t.Errorf("no helpUri at home in\n%.2000s", out)
	}
	// Published without a site, it names none.
	if _, err := rename(dir, path, noSite); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(bin, "apart"), "./cmd/heddle")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, _ = exec.Command(filepath.Join(bin, "apart"), "check", "--format", "sarif", "no.ptx").Output()
	if !strings.Contains(string(out), `"id": "race-shared"`) || strings.Contains(string(out), "helpUri") {
		t.Errorf("a helpUri without a site, or no rules, in\n%.2000s", out)
	}
}
