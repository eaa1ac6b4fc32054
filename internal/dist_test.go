package internal

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// command runs a program and fails the test if that does.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// sums returns a line for each file directly in a directory, with its checksum.
func sums(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		// These three have the paths and the time of the build, and are not published.
		if !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".json") &&
			!strings.HasSuffix(e.Name(), ".cdx.json") || e.Name() == "config.yaml" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(text), e.Name())
	}
	return b.String()
}

// TestReproducible builds the release of a tag twice, in two checkouts: all published files are
// equal. Their program has the version of the tag. It needs goreleaser, by GORELEASER or PATH.
func TestReproducible(t *testing.T) {
	if !long.All() {
		t.Skip("builds everything for six platforms; HEDDLE_LONG=1")
	}
	goreleaser := os.Getenv("GORELEASER")
	if goreleaser == "" {
		path, err := exec.LookPath("goreleaser")
		if err != nil {
			t.Skip("no goreleaser; go install github.com/goreleaser/goreleaser/v2@v2.15.1")
		}
		goreleaser = path
	}
	var all [2]string
	for i := range all {
		dir := filepath.Join(t.TempDir(), "heddle")
		command(t, "..", nil, "git", "clone", "-q", ".", dir)
		// goreleaser wants to know where a release would go.
		command(t, dir, nil, "git", "remote", "set-url", "origin", "https://github.com/OWNER/heddle")
		command(t, dir, nil, "git", "tag", "v0.1.0")
		env := []string{"GORELEASER_CURRENT_TAG=v0.1.0"}
		if i > 0 { // nothing that the first has compiled
			env = append(env, "GOCACHE="+t.TempDir())
		}
		command(t, dir, env, "make", "dist", "GORELEASER="+goreleaser)
		all[i] = sums(t, filepath.Join(dir, "dist"))
		out := command(t, dir, nil, "bin/release/heddle", "version", "--json")
		if !strings.HasPrefix(out, `{"version":"v0.1.0",`) {
			t.Errorf("heddle version --json: %s", out)
		}
	}
	if all[0] != all[1] {
		t.Errorf("the first build:\n%s\nthe second build:\n%s", all[0], all[1])
	}
	// Six archives and programs' bills of materials, four packages, the checksums.
	if n := strings.Count(all[0], "\n"); n != 6+6+4+1 {
		t.Errorf("%d files:\n%s", n, all[0])
	}
}

// TestReleaseNotes: a release has the section of its tag as notes, and none without one.
func TestReleaseNotes(t *testing.T) {
	script, err := os.ReadFile("../scripts/release-notes.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"scripts/release-notes.sh": string(script),
		"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n\n- new\n\n" +
			"## [1.1.0]\n\n- old\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for tag, want := range map[string]string{"v1.2.0": "- new", "v1.1.0": "- old", "v1.2": "",
		"vUnreleased": "", "v1": ""} {
		out, err := exec.Command("sh", filepath.Join(dir, "scripts/release-notes.sh"), tag).Output()
		if got := strings.TrimSpace(string(out)); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", tag, got, err, want)
		}
	}
}

// TestDockerfile lints the Dockerfile, and copies of it with mistakes, which must fail: docker, which
// would find them, is on few machines.
func TestDockerfile(t *testing.T) {
	if !long.All() {
		t.Skip("npm fetches packages; HEDDLE_LONG=1")
	}
	for _, name := range []string{"node", "npm", "make"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s", name)
		}
	}
	command(t, "..", nil, "make", "dockerfile")
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"WORKDIR", "WORKDIRR"}, {"COPY . .", "COPY ."}, {"--from=", "--form="},
		{"debian:bookworm-slim", "debian"}, {"install -y", "install"}} {
		wrong := strings.Replace(string(text), c[0], c[1], 1)
		file := filepath.Join(t.TempDir(), "Dockerfile")
		if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "dockerfile", "DOCKERFILE="+file)
		cmd.Dir = ".."
		out, err := cmd.CombinedOutput()
		if wrong == string(text) || err == nil {
			t.Errorf("%q passes:\n%s", c[1], out)
		}
	}
}
