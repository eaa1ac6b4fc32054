package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every input of the action is in its documentation, and no other.
func TestActionDocumented(t *testing.T) {
	action, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	inputs, _, _ := strings.Cut(string(action), "outputs:")
	_, table, _ := strings.Cut(string(doc), "| input |")
	var has, says []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs, -1) {
		has = append(has, m[1])
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		says = append(says, m[1])
	}
	if len(has) == 0 || strings.Join(has, " ") != strings.Join(says, " ") {
		t.Errorf("the action has the inputs %v, docs/ci.md names %v", has, says)
	}
}

const actionScript = "../../scripts/action-check.sh"

// The action's script passes the exit code on, except for unknown unless asked, and leaves what
// code scanning takes for alerts out of the SARIF file. A stub of heddle writes the file that
// --report names.
func TestActionScript(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq")
	}
	path, err := filepath.Abs(actionScript)
	if err != nil {
		t.Fatal(err)
	}
	const log = `{"runs":[{"results":[{"kind":"fail","ruleId":"a"},{"kind":"fail","ruleId":"b",` +
		`"suppressions":[{"kind":"inSource"}]},{"kind":"pass","ruleId":"c"},` +
		`{"kind":"open","ruleId":"d"}]}]}`
	tests := []struct {
		code, unknown, sarif string
		want                 int
	}{
		{"0", "warn", "", 0}, {"1", "warn", "", 1}, {"2", "warn", "", 2}, {"3", "warn", "", 0},
		{"3", "fail", "", 3}, {"4", "fail", "", 4},
		{"0", "warn", "out.sarif", 0}, {"1", "warn", "out.sarif", 1}, {"3", "", "out.sarif", 0},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		heddle := filepath.Join(dir, "heddle")
		script(t, heddle, `echo "$@" >&2; for a; do case $a in sarif=*) echo '`+log+
			`' >"${a#sarif=}";; esac; done; exit `+tt.code)
		cmd := exec.Command("bash", path, heddle)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ARGS=./src  *.cu --grid 1", "SARIF="+tt.sarif,
			"UNKNOWN="+tt.unknown, "GITHUB_OUTPUT="+filepath.Join(dir, "output"),
			"GITHUB_STEP_SUMMARY=table")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != tt.want {
			t.Errorf("%+v: exit code %d, want %d\n%s", tt, got, tt.want, stderr.String())
		}
		flags, output := "--format github", "exit-code="+tt.code+"\n"
		if tt.sarif != "" {
			flags, output = "--report sarif=out.sarif.all", output+"sarif=out.sarif\n"
			if got := rulesIn(t, filepath.Join(dir, tt.sarif)); got != "a" {
				t.Errorf("%+v: results of %s", tt, got)
			}
		}
		if got := stderr.String(); got != "check --summary table "+flags+" ./src *.cu --grid 1\n" {
			t.Errorf("heddle %s", got)
		}
		if out, err := os.ReadFile(filepath.Join(dir, "output")); err != nil || string(out) != output {
			t.Errorf("%+v: output %q, %v", tt, out, err)
		}
	}
}

func rulesIn(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct{ Results []struct{ RuleID string } }
	}
	if err := json.Unmarshal(text, &log); err != nil || len(log.Runs) != 1 {
		t.Fatalf("%v in %s", err, text)
	}
	var out []string
	for _, r := range log.Runs[0].Results {
		out = append(out, r.RuleID)
	}
	return strings.Join(out, " ")
}
