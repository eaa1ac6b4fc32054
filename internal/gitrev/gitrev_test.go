package gitrev

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository creates a repository with two commits: sub/f contains "old" in the first and "new" in
// the second; sub/g exists only in the second.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"},
			args...)
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do("init", "--quiet")
	write("sub/f", "old")
	do("add", ".")
	do("commit", "--quiet", "-m", "one")
	write("sub/f", "new")
	write("sub/g", "new")
	do("add", ".")
	do("commit", "--quiet", "-m", "two")
	return dir
}

func TestCheckout(t *testing.T) {
	dir := repository(t)
	hooks := filepath.Join(dir, ".git", "hooks", "post-checkout")
	ran := filepath.Join(dir, "hook-ran")
	if err := os.MkdirAll(filepath.Dir(hooks), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hooks, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, "no-such-index")) // as in a hook
	t.Setenv("GIT_DIR", filepath.Join(dir, "no-such-dir"))
	sub := filepath.Join(dir, "sub")
	tree, err := Checkout(t.Context(), sub, "HEAD~1")
	if err != nil {
		t.Fatal(err)
	}
	path, ok := tree.Path(filepath.Join(sub, "f"))
	if text, err := os.ReadFile(path); !ok || err != nil || string(text) != "old" {
		t.Errorf("%s: %q, %v, %v", path, text, ok, err)
	}
	if path, ok := tree.Path(filepath.Join(sub, "g")); ok {
		t.Errorf("%s is there", path)
	}
	if path, ok := tree.Path(filepath.Join(filepath.Dir(dir), "f")); ok {
		t.Errorf("%s, from outside the repository", path)
	}
	t.Chdir(sub)
	if path, ok := tree.Path("f"); !ok {
		t.Errorf("relative: %s", path)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(tree.temp); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", tree.temp, err)
	}
	if list, err := git(t.Context(), dir, "worktree", "list"); err != nil ||
		strings.Count(list, "\n") != 0 {
		t.Errorf("worktrees: %q, %v", list, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
}

func TestMistakes(t *testing.T) {
	dir := repository(t)
	for _, rev := range []string{"no-such-branch", "", "--version", "HEAD:sub/f", "HEAD~9"} {
		if tree, err := Checkout(t.Context(), dir, rev); err == nil ||
			!strings.Contains(err.Error(), "no revision") {
			t.Errorf("%q: %v, %v", rev, tree, err)
		}
	}
	if _, err := Checkout(t.Context(), t.TempDir(), "HEAD"); err == nil ||
		!strings.Contains(err.Error(), "is not in a git repository") {
		t.Errorf("outside a repository: %v", err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if _, err := git(t.Context(), dir, "clone", "--quiet", "--depth", "1", "file://"+dir,
		clone); err != nil {
		t.Fatal(err)
	}
	if _, err := Checkout(t.Context(), clone, "HEAD~1"); err == nil ||
		!strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("in a shallow clone: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Checkout(ctx, dir, "HEAD"); err == nil {
		t.Error("no error after an interrupt")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Checkout(t.Context(), dir, "HEAD"); err == nil ||
		!strings.Contains(err.Error(), "git not found") {
		t.Errorf("without git: %v", err)
	}
}
