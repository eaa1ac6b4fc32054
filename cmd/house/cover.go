package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// coveredInput is the file, below the checkout, that is checked for statement counts. It has a data
// race.
const coveredInput = "examples/reduce_racy.cu"

// coverage is the number of statements of a package, and how many of them ran.
type coverage struct{ all, ran int }

// How much code one check executes tells how far a reader has to look to understand the main path.
// Statements are counted as the compiler's coverage does: blocks weighted by their statements.

// printCover builds heddle from the checkout in dir with -cover, checks one racy file, and prints
// how many statements of each package of the module ran.
func printCover(w io.Writer, dir, module string) error {
	tmp, err := os.MkdirTemp("", "house")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	bin, data, profile := filepath.Join(tmp, "heddle"), filepath.Join(tmp, "data"),
		filepath.Join(tmp, "profile")
	if err := os.Mkdir(data, 0o755); err != nil {
		return err
	}
	// goTool runs the go command in the checkout, so that its version and modules are used.
	goTool := func(args ...string) error {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", args[0], err, out)
		}
		return nil
	}
	if err := goTool("build", "-cover", "-coverpkg=./...", "-o", bin, "./cmd/heddle"); err != nil {
		return err
	}
	// Without the cache the front end compiles the file, whatever ran before.
	cmd := exec.Command(bin, "check", "--no-cache", "--no-config", coveredInput)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+data)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		return fmt.Errorf("heddle check %s: %v, want exit status 1\n%s", coveredInput, err, out)
	}
	if err := goTool("tool", "covdata", "textfmt", "-i="+data, "-o="+profile); err != nil {
		return err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	by, err := readProfile(text, module)
	if err != nil {
		return err
	}
	// Packages that did not run at all are listed too: they are what a reader can skip.
	t := newTable(w, "package", "executed", "statements")
	var sum coverage
	packages := 0
	for _, p := range slices.Sorted(maps.Keys(by)) {
		c := by[p]
		sum.all, sum.ran = sum.all+c.all, sum.ran+c.ran
		if c.ran > 0 {
			packages++
		}
		t.row(p, c.ran, c.all)
	}
	t.row(fmt.Sprintf("all; %d of %d packages", packages, len(by)), sum.ran, sum.all)
	t.flush()
	return nil
}

// readProfile adds up a text profile by package. Its lines are FILE:FROM,TO STATEMENTS COUNT, after
// a first one with the mode. A block that several builds of a package name counts once, as executed
// if it was in any of them.
func readProfile(text []byte, module string) (map[string]coverage, error) {
	type block struct {
		place      string
		statements int
	}
	ran := map[block]bool{}
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		line := sc.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		var b block
		var count int
		if _, err := fmt.Sscan(line, &b.place, &b.statements, &count); err != nil {
			return nil, fmt.Errorf("coverage profile: line %q: %w", line, err)
		}
		ran[b] = ran[b] || count > 0
	}
	by := map[string]coverage{}
	for b, r := range ran {
		name, _, _ := strings.Cut(b.place, ":")
		p := strings.TrimPrefix(path.Dir(name), module+"/")
		c := by[p]
		c.all += b.statements
		if r {
			c.ran += b.statements
		}
		by[p] = c
	}
	return by, nil
}
