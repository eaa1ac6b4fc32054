package main

import (
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// blocks returns the code blocks of a language in the documents, each with the name of its file.
func blocks(t *testing.T, language string) map[string][]string {
	t.Helper()
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```")
	out := make(map[string][]string)
	for _, name := range docs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			out[filepath.Base(name)] = append(out[filepath.Base(name)], m[1])
		}
	}
	return out
}

// recipe is what docs/ci.md shows of any system.
type recipe struct {
	Jobs map[string]struct {
		Steps []recipeStep
	}
	Repos []struct {
		Hooks []struct {
			ID   string
			Args []string
		}
	}
	Heddle struct {
		Script    []string
		Artifacts struct{ Reports map[string]string }
	}
}

// recipeStep is a step of a workflow of GitHub.
type recipeStep struct {
	Uses string
	With map[string]string
}

// Each YAML document of the documents is well-formed, and the recipes use what exists: inputs of
// the action, and hooks of .pre-commit-hooks.yaml.
func TestRecipes(t *testing.T) {
	inputs := readAction(t).Inputs
	hooks := readHooks(t)
	steps := 0
	for name, texts := range blocks(t, "yaml") {
		for _, text := range texts {
			var document any
			if err := yaml.Unmarshal([]byte(text), &document); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, text)
				continue
			}
			var r recipe
			var list []recipeStep // a part of a workflow
			if _, ok := document.([]any); ok {
				if err := yaml.Unmarshal([]byte(text), &list); err != nil {
					t.Errorf("%s: %v in\n%s", name, err, text)
				}
			} else if err := yaml.Unmarshal([]byte(text), &r); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, text)
			}
			for _, job := range r.Jobs {
				list = append(list, job.Steps...)
			}
			for _, s := range list {
				if !strings.Contains(s.Uses, "/heddle@") {
					continue
				}
				steps++
				for in := range s.With {
					if _, ok := inputs[in]; !ok {
						t.Errorf("%s: the action has no input %s", name, in)
					}
				}
			}
			for _, repo := range r.Repos {
				for _, h := range repo.Hooks {
					if hooks[h.ID] == "" {
						t.Errorf("%s: there is no hook %s", name, h.ID)
					}
				}
			}
		}
	}
	if steps < 2 {
		t.Errorf("the documents use the action %d times", steps)
	}
}

// readHooks returns the commands of the hooks for pre-commit.
func readHooks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry string }
	if err := yaml.Unmarshal(text, &hooks); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, h := range hooks {
		out[h.ID] = h.Entry
	}
	return out
}

// checkout is a directory with a kernel that has a race and one that has none, where commands find
// this heddle on PATH.
type checkout struct {
	t    *testing.T
	dir  string
	path string
}

// newCheckout makes a checkout.
func newCheckout(t *testing.T) *checkout {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &checkout{t: t, dir: t.TempDir(), path: t.TempDir()}
	src := filepath.Join(c.dir, "src")
	if err := errors.Join(os.Symlink(self, filepath.Join(c.path, "heddle")), os.Mkdir(src, 0o700),
		os.WriteFile(filepath.Join(src, "racy.ptx"), []byte(racyPTX), 0o600),
		os.WriteFile(filepath.Join(src, "ok.ptx"), []byte(cleanPTX), 0o600)); err != nil {
		t.Fatal(err)
	}
	return c
}

// shell runs lines as a shell of a CI system does, which ends at the first that fails, and returns
// the exit code.
func (c *checkout) shell(lines ...string) int {
	c.t.Helper()
	cmd := exec.Command("sh", "-e", "-c", strings.Join(lines, "\n"))
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+c.path+":"+os.Getenv("PATH"),
		"XDG_CACHE_HOME="+filepath.Join(c.path, "cache"))
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		c.t.Logf("%q: exit code %d\n%s", lines, code, out)
		return code
	}
	c.t.Fatal(err)
	return 0
}

// read reads a file that a recipe must have written.
func (c *checkout) read(name string) []byte {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil || len(text) == 0 {
		c.t.Fatalf("%s: %v", name, err)
	}
	return text
}

// junit checks that a file is JUnit XML with one failure among two tests.
func (c *checkout) junit(name string) {
	c.t.Helper()
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal(c.read(name), &suites); err != nil || suites.Tests != 2 ||
		suites.Failures != 1 {
		c.t.Errorf("%s: %+v, %v", name, suites, err)
	}
}

// The script of the recipe for GitLab writes the artifacts that it names, and fails for the race.
func TestGitLabRecipe(t *testing.T) {
	var r recipe
	for _, text := range blocks(t, "yaml")["ci.md"] {
		if strings.HasPrefix(text, "heddle:") {
			if err := yaml.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(r.Heddle.Script) == 0 {
		t.Fatal("docs/ci.md has no job for GitLab")
	}
	c := newCheckout(t)
	if code := c.shell(r.Heddle.Script...); code != exitBugs {
		t.Errorf("exit code %d, want %d", code, exitBugs)
	}
	c.junit(r.Heddle.Artifacts.Reports["junit"])
	var issues []struct {
		Check    string `yaml:"check_name"`
		Location struct{ Path string }
	}
	// JSON is YAML.
	err := yaml.Unmarshal(c.read(r.Heddle.Artifacts.Reports["codequality"]), &issues)
	if err != nil || len(issues) != 1 || issues[0].Check != "race-shared" ||
		issues[0].Location.Path != "src/racy.ptx" {
		t.Errorf("%+v, %v", issues, err)
	}
}

// The shell steps of the recipe for Jenkins write what its other steps read.
func TestJenkinsRecipe(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq")
	}
	texts := blocks(t, "groovy")["ci.md"]
	if len(texts) != 1 {
		t.Fatalf("docs/ci.md has %d pipelines", len(texts))
	}
	// In strings of Groovy, a backslash joins a line with the next.
	text := strings.ReplaceAll(texts[0], "\\\n", "")
	var commands []string
	sh := regexp.MustCompile(`(?s)\bsh (?:"""(.*?)"""|'([^']*)')`)
	for _, m := range sh.FindAllStringSubmatch(text, -1) {
		commands = append(commands, m[1]+m[2])
	}
	if len(commands) != strings.Count(text, "sh ") || len(commands) == 0 {
		t.Fatalf("%d commands in\n%s", len(commands), text)
	}
	c := newCheckout(t)
	want := []int{exitBugs, 0} // the check, and what follows in any case
	for i, command := range commands {
		if code := c.shell(command); i >= len(want) || code != want[i] {
			t.Errorf("%s: exit code %d, want %v", command, code, want)
		}
	}
	file := regexp.MustCompile(`junit '([^']*)'`).FindStringSubmatch(text)
	pattern := regexp.MustCompile(`pattern: '([^']*)'`).FindStringSubmatch(text)
	if file == nil || pattern == nil {
		t.Fatalf("nothing is published by\n%s", text)
	}
	c.junit(file[1])
	c.read(pattern[1])
	if rules := rulesIn(t, filepath.Join(c.dir, pattern[1])); rules != "race-shared" {
		t.Errorf("results of %q", rules)
	}
}

// The hook of the recipe for pre-commit runs on staged files: its command, its arguments, the
// names.
func TestPreCommitRecipe(t *testing.T) {
	entries := readHooks(t)
	runs := 0
	for _, text := range blocks(t, "yaml")["ci.md"] {
		var r recipe
		if !strings.HasPrefix(text, "repos:") {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		for _, repo := range r.Repos {
			for _, h := range repo.Hooks {
				runs++
				words := slices.Concat([]string{entries[h.ID]}, h.Args)
				c := newCheckout(t)
				racy := c.shell(strings.Join(append(words, "src/racy.ptx", "src/ok.ptx"), " "))
				clean := c.shell(strings.Join(append(words, "src/ok.ptx"), " "))
				if racy != exitBugs || clean != exitClean {
					t.Errorf("%s: exit codes %d and %d", h.ID, racy, clean)
				}
			}
		}
	}
	if runs == 0 {
		t.Error("docs/ci.md has no hook")
	}
}

// Other examples of commands in docs/ci.md have flags that exist: their help is printed.
func TestCommandsOfCI(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	check := regexp.MustCompile(`(?m)^    heddle check ([^>#\n]*)`)
	commands := check.FindAllStringSubmatch(string(text), -1)
	c := newCheckout(t)
	for _, m := range commands {
		if code := c.shell("heddle check --help " + m[1] + " >/dev/null"); code != 0 {
			t.Errorf("heddle check %s: exit code %d", m[1], code)
		}
	}
	if len(commands) < 5 {
		t.Errorf("%d commands", len(commands))
	}
}
