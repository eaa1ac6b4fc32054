package bugreport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/launch"
)

// Line is a command line of heddle that shows what is to be reported.
type Line struct {
	Command string   // check, verify, run, trace, fix, sync or exec
	Words   []string // all of it behind the program, the command included
	Flags   []Flag   // in their order
	Inputs  []string // what is no flag
	Args    []string // of exec, behind --: the arguments of the program, or a command
}

// examiner is the command that examines smaller programs: what a program has launched, heddle run
// executes.
func (l *Line) examiner() string {
	if l.Command == "exec" {
		return "run"
	}
	return l.Command
}

// Flag is one flag as it was typed.
type Flag struct {
	Name, Value string
	Switch      bool // it needs no value
}

// words is the flag as words of a command line.
func (f Flag) words() []string {
	if f.Switch && f.Value == "true" {
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name + "=" + f.Value}
}

// deciding are the flags that decide a result besides the program and its launch.
var deciding = []string{"seed", "seeds", "warp", "benign", "max-steps", "memory", "solver",
	"timeout", "assume", "axioms", "only-intra-block", "bounds", "abstraction", "assume-no-wrap", "extern",
	"unwind", "blockidx", "redundant", "strip", "block-only", "verify-only", "oracle", "algorithm",
	"cost", "loop-cost", "cond-cost"}

// Kept returns the flags with which smaller programs are examined: those that decide the result,
// and the dimensions of a proof that may have any size.
func (l *Line) kept() []Flag {
	var out []Flag
	for _, f := range l.Flags {
		anySize := (f.Name == "grid" || f.Name == "block") && strings.Contains(f.Value, "*")
		atomic := f.Name == "allow" && f.Value == "atomic"
		if anySize || atomic || slices.Contains(deciding, f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// Value returns the last value of a flag; empty if it is not there.
func (l *Line) Value(name string) string {
	for _, f := range slices.Backward(l.Flags) {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// plain are further flags whose values contain nothing of the user's own.
var plain = []string{"grid", "block", "global", "local", "cluster", "shared", "limit", "jobs",
	"std", "address-bits", "arch", "opt-level", "lang", "format", "color", "allow", "total-timeout", "emit", "print",
	"verbose", "quiet", "exec", "stats", "no-cache", "no-config", "trust", "diff", "write", "printf",
	"invariants", "math-int", "explain", "optimize", "incremental", "check-launches", "gpu",
	"execute-repeats", "init-check", "leak-check", "default-stream"}

// Anonymous is the line without names of the user: files have numbers, arguments their values
// alone, and other values are left out.
func (l *Line) anonymous() string {
	out := []string{"heddle", l.Command}
	for _, f := range l.Flags {
		switch value, ok := anonymousArg(f.Value); {
		case slices.Contains(plain, f.Name),
			slices.Contains(deciding, f.Name) && f.Name != "assume" && f.Name != "axioms" &&
				f.Name != "solver":
			for _, w := range f.words() {
				out = append(out, launch.Quote(w))
			}
		case f.Name == "arg" && ok:
			out = append(out, launch.Quote("--arg=(parameter)="+value))
		default:
			out = append(out, "--"+f.Name+"=(left out)")
		}
	}
	for i, name := range l.Inputs {
		out = append(out, fmt.Sprintf("input%d%s", i, extension(name)))
	}
	if len(l.Args) > 0 {
		out = append(out, fmt.Sprintf("-- (%s left out)", count(len(l.Args), "word")))
	}
	return strings.Join(out, " ")
}

// anonymousArg returns the value of an argument NAME=VALUE; false if it names something.
func anonymousArg(arg string) (string, bool) {
	_, value, _ := strings.Cut(arg, "=")
	for _, form := range []string{"file:", "func:", "alias:"} {
		if strings.Contains(value, form) {
			return "", false
		}
	}
	return value, true
}

// extension is that of an input, if heddle gives it a meaning.
func extension(name string) string {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".cu", ".cl", ".ptx", ".ll", ".bc":
		return ext
	}
	return ""
}
