package bugreport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/launch"
)

// A program may take long, and may do something else when it runs again. So the line of exec is run
// once, and its launches are saved with the PTX of their kernels; each is then an input like
// others, for heddle run.

// Names within the directory for temporary files.
const (
	factsName    = "facts.json"
	launchesName = "launches"
)

// execute runs the line, with the findings as a file beside its own report.
func (s *session) execute(ctx context.Context) {
	facts := filepath.Join(s.temp, factsName)
	words := []string{s.opt.Line.Command}
	for _, f := range s.opt.Line.Flags {
		words = append(words, f.words()...)
	}
	more := []string{"--report=json=" + facts, "--save=" + filepath.Join(s.temp, launchesName),
		"--save-ptx"}
	words = append(append(words, more...), s.opt.Line.Inputs...)
	if len(s.opt.Line.Args) > 0 {
		words = append(append(words, "--"), s.opt.Line.Args...)
	}
	s.original = s.opt.Run(ctx, words, s.opt.Stdin)
	// The line is in what heddle prints about a finding.
	s.original.Stderr = bytes.ReplaceAll(s.original.Stderr, []byte(" "+strings.Join(more, " ")), nil)
	text, _ := os.ReadFile(facts) // there is none if the line is wrong
	s.facts = readFacts(Outcome{Stdout: text, Stderr: s.original.Stderr})
}

// mostLaunches bounds the saved launches that are examined: heddle exec watches three of a kernel
// and shape.
const mostLaunches = 20

// launches are lines for the saved launches of the kernel of the report, or of all kernels, in the
// order in which they were made. A crash was in the last one.
func (s *session) launches() []Line {
	dir := filepath.Join(s.temp, launchesName)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	type saved struct {
		line Line
		time int64
	}
	var list []saved
	for _, e := range entries {
		kernel, number, _ := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if number == "ptx" || err != nil {
			continue
		}
		ptx := filepath.Join(dir, kernel+".ptx")
		if _, err := os.Stat(ptx); err != nil {
			continue
		}
		line := Line{Command: "run", Inputs: []string{ptx},
			Flags: []Flag{{Name: "launch", Value: filepath.Join(dir, e.Name())}}}
		list = append(list, saved{line, info.ModTime().UnixNano()})
	}
	slices.SortStableFunc(list, func(a, b saved) int { return cmp.Compare(a.time, b.time) })
	if len(s.interest.Crash) > 0 {
		slices.Reverse(list)
	}
	var out []Line
	for _, one := range list[:min(len(list), mostLaunches)] {
		out = append(out, one.line)
	}
	return out
}

// write writes a saved launch to a file for candidates, unless it is there, and returns its path.
func (s *session) write(l *launch.Saved) (string, error) {
	file := filepath.Join(s.temp, launchName)
	if s.written == l {
		return file, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	if err := errors.Join(l.Write(f), f.Close()); err != nil {
		return "", err
	}
	s.written = l
	return file, nil
}
