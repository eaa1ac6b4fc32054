// Package gitrev provides the files of an older revision of a git repository, in a temporary
// worktree. It does not touch the user's checkout or index.
package gitrev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is a revision that is checked out in a temporary directory. The caller must Close it.
type Tree struct {
	Commit string // the full hash
	root   string // of the user's checkout, without symbolic links
	dir    string // of the revision's files
	temp   string // that holds dir
}

// Program returns the path of git. It fails if git is not installed.
func Program() (string, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", errors.New("git not found: install it, or add it to PATH")
	}
	return path, nil
}

// Checkout checks out revision rev of the repository that contains dir. It fails if git is not
// installed, dir is not in a worktree, the revision does not exist, or git cannot create the
// worktree.
func Checkout(ctx context.Context, dir, rev string) (*Tree, error) {
	if _, err := Program(); err != nil {
		return nil, err
	}
	root, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s is not in a git repository with a worktree: %w", dir, err)
	}
	if root, err = filepath.EvalSymlinks(filepath.FromSlash(root)); err != nil {
		return nil, err
	}
	commit, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "--end-of-options",
		rev+"^{commit}")
	if err != nil {
		hint := ""
		if shallow, _ := git(ctx, root, "rev-parse", "--is-shallow-repository"); shallow == "true" {
			hint = "; this clone is shallow: fetch its full history (git fetch --unshallow; " +
				"actions/checkout: fetch-depth: 0)"
		}
		return nil, fmt.Errorf("no revision %q in %s%s", rev, root, hint)
	}
	t := &Tree{Commit: commit, root: root}
	if t.temp, err = os.MkdirTemp("", "heddle-rev-"); err != nil {
		return nil, err
	}
	if t.temp, err = filepath.EvalSymlinks(t.temp); err != nil {
		return nil, err
	}
	t.dir = filepath.Join(t.temp, "tree")
	// Disable hooks: a user's post-checkout hook must not run for this.
	if _, err := git(ctx, root, "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "--quiet",
		"--detach", t.dir, commit); err != nil {
		return nil, errors.Join(fmt.Errorf("git worktree add failed for %s: %w", rev, err), t.Close())
	}
	return t, nil
}

// Close removes the files and the worktree's entry in the repository.
func (t *Tree) Close() error {
	ctx := context.Background() // clean up even after an interrupt
	_, _ = git(ctx, t.root, "worktree", "remove", "--force", t.dir)
	err := os.RemoveAll(t.temp)
	_, pruneErr := git(ctx, t.root, "worktree", "prune")
	return errors.Join(err, pruneErr)
}

// Path returns the path in the revision of a file or directory of the user's checkout, and whether
// the revision has it. A name outside the checkout is never in the revision.
func (t *Tree) Path(name string) (string, bool) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", false
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	rel, err := filepath.Rel(t.root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	path := filepath.Join(t.dir, rel)
	_, err = os.Stat(path)
	return path, err == nil
}

// git runs a git command in dir and returns its trimmed output. An error is the text that git
// printed.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = environment(os.Environ())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if msg := strings.TrimSpace(stderr.String()); msg != "" {
			return "", errors.New(strings.TrimPrefix(msg, "fatal: "))
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// local are the variables that bind git to one repository (git rev-parse --local-env-vars). They
// are set when a hook runs heddle, and would make git use the wrong index or directory.
var local = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX",
}

// environment returns env without these variables, and with untranslated messages, since callers
// show them next to messages in English.
func environment(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(local, name)
	})
	return append(out, "LC_ALL=C")
}
