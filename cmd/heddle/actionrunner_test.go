package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// action is what a runner reads of action.yml.
type action struct {
	Inputs map[string]struct {
		Default string
	}
	Outputs map[string]struct {
		Value string
	}
	Runs struct {
		Using string
		Steps []actionStep
	}
}

// actionStep is a step of a composite action: a shell script, or another action.
type actionStep struct {
	Name, ID, If, Shell, Run, Uses string
	Env, With                      map[string]string
}

// readAction reads the action of this repository.
func readAction(t *testing.T) *action {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("%+v", a)
	}
	return &a
}

// runner executes the action as GitHub does: inputs and contexts replace expressions, each shell
// step runs in bash with the files for its outputs and its summary, and a step runs after a failed
// one only if its condition says so. Steps that use other actions are noted and not executed.
type runner struct {
	t         *testing.T
	action    *action
	contexts  map[string]string // github.* and runner.*
	env       []string          // of all steps
	workspace string
	temp      string // RUNNER_TEMP
}

// actionRun is what a run of the action has left.
type actionRun struct {
	failed  string            // the name of the step that failed; empty: none
	log     string            // of all steps
	outputs map[string]string // of the action
	uses    map[string]string // the inputs of other actions, by their names without a version
	summary string            // of all steps
}

// platforms are the names of GitHub for those of Go.
var platforms = map[string]string{"linux": "Linux", "darwin": "macOS", "amd64": "X64",
	"arm64": "ARM64"}

// newRunner makes a runner for the action at a ref of a repository, both empty for a checkout,
// whose server is at a URL.
func newRunner(t *testing.T, repository, ref, server string) *runner {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, action: readAction(t), workspace: t.TempDir(), temp: t.TempDir()}
	system, arch := platforms[runtime.GOOS], platforms[runtime.GOARCH]
	r.contexts = map[string]string{
		"github.action_repository": repository, "github.action_ref": ref, "github.action_path": root,
		"github.sha": "0123abc", "runner.os": system, "runner.arch": arch, "runner.temp": r.temp,
	}
	r.env = []string{"PATH=" + noInstaller(t) + ":" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"XDG_CACHE_HOME=" + filepath.Join(r.temp, "cache"), "GOFLAGS=-buildvcs=false",
		"GITHUB_SERVER_URL=" + server, "GITHUB_ACTION_PATH=" + root, "GITHUB_WORKSPACE=" + r.workspace,
		"RUNNER_TEMP=" + r.temp, "RUNNER_OS=" + system, "RUNNER_ARCH=" + arch, "CI=true"}
	// The cache of the go command would be below XDG_CACHE_HOME, and empty.
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		r.env = append(r.env, names[i]+"="+v)
	}
	return r
}

// noInstaller returns a directory with package managers that fail: no test installs anything.
func noInstaller(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"sudo", "apt-get", "dnf", "pacman", "apk", "brew"} {
		script(t, filepath.Join(dir, name), "echo tests install nothing >&2; exit 9")
	}
	return dir
}

// script writes an executable shell script.
func script(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// write writes a file of the workspace.
func (r *runner) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.workspace, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// run executes the action with inputs: name, value, name, value.
func (r *runner) run(inputs ...string) *actionRun {
	r.t.Helper()
	values := make(map[string]string)
	for name, c := range r.contexts {
		values[name] = c
	}
	for name, in := range r.action.Inputs {
		values["inputs."+name] = in.Default
	}
	for i := 0; i < len(inputs); i += 2 {
		if _, ok := values["inputs."+inputs[i]]; !ok {
			r.t.Fatalf("the action has no input %s", inputs[i])
		}
		values["inputs."+inputs[i]] = inputs[i+1]
	}
	done := &actionRun{outputs: make(map[string]string), uses: make(map[string]string)}
	for _, s := range r.action.Runs.Steps {
		if condition(r.t, s.If, values, done.failed == "") {
			r.step(&s, values, done)
		}
	}
	for name, out := range r.action.Outputs {
		done.outputs[name] = expand(r.t, out.Value, values)
	}
	return done
}

// step executes one step.
func (r *runner) step(s *actionStep, values map[string]string, done *actionRun) {
	r.t.Helper()
	if s.Uses != "" {
		name, _, _ := strings.Cut(s.Uses, "@")
		var with []string
		for key, v := range s.With {
			with = append(with, key+"="+expand(r.t, v, values))
		}
		done.uses[name] = strings.Join(with, "\n")
		return
	}
	files := r.t.TempDir()
	text := filepath.Join(files, "script.sh")
	output, summary := filepath.Join(files, "output"), filepath.Join(files, "summary")
	if err := os.WriteFile(text, []byte(expand(r.t, s.Run, values)), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if s.Shell != "bash" {
		r.t.Fatalf("%s: shell %q", s.Name, s.Shell)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", text)
	cmd.Dir = r.workspace
	cmd.Env = append(append([]string(nil), r.env...), "GITHUB_OUTPUT="+output,
		"GITHUB_STEP_SUMMARY="+summary)
	for name, v := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+expand(r.t, v, values))
	}
	log, err := cmd.CombinedOutput()
	done.log += string(log)
	if err != nil {
		done.failed = s.Name
	}
	written, _ := os.ReadFile(output)
	for line := range strings.Lines(string(written)) {
		name, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			r.t.Errorf("%s: the line %q of GITHUB_OUTPUT", s.Name, line)
		}
		values["steps."+s.ID+".outputs."+name] = v
	}
	page, _ := os.ReadFile(summary)
	done.summary += string(page)
}

var (
	expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
	property   = regexp.MustCompile(`^(inputs|github|runner|steps)(\.[a-z_-]+)+$`)
)

// expand replaces the expressions of a text, of which the action has properties of contexts only.
// One of a step that did not run is empty, as on GitHub; one that the runner does not know fails
// the test.
func expand(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		return lookup(t, expression.FindStringSubmatch(e)[1], values)
	})
}

// lookup returns the value of a property.
func lookup(t *testing.T, name string, values map[string]string) string {
	t.Helper()
	v, ok := values[name]
	if !property.MatchString(name) || !ok && !strings.HasPrefix(name, "steps.") {
		t.Fatalf("the expression %q is not one of a property that the runner has", name)
	}
	return v
}

// condition evaluates the condition of a step: terms that are all true, each always() or a
// comparison of a property with a string. Without always(), a step does not run after a failed one.
func condition(t *testing.T, text string, values map[string]string, success bool) bool {
	t.Helper()
	if text == "" {
		return success
	}
	ok, always := true, false
	comparison := regexp.MustCompile(`^(\S+) (==|!=) '([^']*)'$`)
	for _, term := range strings.Split(text, " && ") {
		m := comparison.FindStringSubmatch(term)
		switch {
		case term == "always()":
			always = true
		case m == nil:
			t.Fatalf("the condition %q has a form that the test does not evaluate", term)
		default:
			ok = ok && (lookup(t, m[1], values) == m[3]) == (m[2] == "==")
		}
	}
	return ok && (success || always)
}

// String describes a run for messages.
func (a *actionRun) String() string {
	return fmt.Sprintf("failed step %q, outputs %v, other actions %v\nlog:\n%s\nsummary:\n%s",
		a.failed, a.outputs, a.uses, a.log, a.summary)
}
