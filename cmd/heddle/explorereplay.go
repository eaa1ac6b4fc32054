package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/exhaustive"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/litmus"
)

// savedExecution is a line of a file of heddle explore --save: an execution that shows a finding.
type savedExecution struct {
	jsonHead
	Version string `json:"heddle"`
	// Command is the command line that found it. Flags that change the program (--arg, -D) are needed
	// again for a replay; the kernel and its launch are not.
	Command string      `json:"command"`
	Name    string      `json:"name"` // of the test or the kernel
	Grid    *event.Dim3 `json:"grid,omitempty"`
	Block   *event.Dim3 `json:"block,omitempty"`
	Unroll  int         `json:"unroll"`
	Finding string      `json:"finding"`

	Execution *explore.Recording `json:"execution"`
}

// finding is an execution and what it shows.
type finding struct {
	text string
	of   *explore.Execution
}

// findingsOf returns one execution for each finding of a report.
func findingsOf(rep *explore.Report) []finding {
	var out []finding
	for _, group := range rep.Groups() {
		r := group[0]
		out = append(out, finding{fmt.Sprintf("data race of %s and %s", r.Describe(r.First),
			r.Describe(r.Second)), r.Example})
	}
	for _, group := range explore.Grouped(rep.Unordered) {
		r := group[0]
		out = append(out, finding{fmt.Sprintf("strong accesses without an order: %s and %s",
			r.Describe(r.First), r.Describe(r.Second)), r.Example})
	}
	for _, f := range rep.Faults {
		out = append(out, finding{f.Describe() + " " + f.What, f.Example})
	}
	if rep.Hang != nil {
		out = append(out, finding{"an execution that does not end", rep.Hang})
	}
	return out
}

// save writes findings, if the user wants that, and returns a line about them; empty if there is
// nothing to say.
func (c *exploreCommand) save(name string, res *exhaustive.Result, list []finding) (string, error) {
	if c.saved == nil || len(list) == 0 {
		return "", nil
	}
	enc := json.NewEncoder(c.saved)
	for _, f := range list {
		s := savedExecution{jsonHead: jsonHead{diag.SchemaVersion, "execution"},
			Version: moduleVersion(), Command: c.command, Name: name, Unroll: c.opt.Unroll,
			Finding: f.text, Execution: f.of.Record()}
		if res != nil {
			s.Grid, s.Block = &res.Config.Geometry.Grid, &res.Config.Geometry.Block
		}
		if err := enc.Encode(s); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("  saved in %s: %s (--replay)\n", c.saveAs, counted(len(list), "execution")), nil
}

// saver returns the file of --save.
func (c *exploreCommand) saver() (*os.File, error) {
	if c.saveAs == "" {
		return nil, nil
	}
	return os.Create(c.saveAs)
}

// readSaved reads a file of --save.
func readSaved(name string) ([]savedExecution, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []savedExecution
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var s savedExecution
		err := dec.Decode(&s)
		if errors.Is(err, io.EOF) && len(out) > 0 {
			return out, nil
		}
		if err != nil || s.Type != "execution" || s.Execution == nil ||
			(s.Grid == nil) != (s.Block == nil) {
			return nil, fmt.Errorf("%s: this is no file of heddle explore --save", name)
		}
		out = append(out, s)
	}
}

// replays replays the saved executions of a test or a kernel and prints them.
func (c *exploreCommand) replays(name, at string,
	replay func(*savedExecution) (*explore.Execution, error)) error {
	for i := range c.replay {
		s := &c.replay[i]
		if s.Name != name {
			continue
		}
		s.Command = "" // used
		var b strings.Builder
		e, err := replay(s)
		head := fmt.Sprintf("%s: %s: saved execution %d of %d", at, name, i+1, len(c.replay))
		if err != nil {
			c.total.unknown++
			fmt.Fprintf(&b, "%s cannot be replayed: %v\n", head, err)
		} else {
			c.total.wrong++
			fmt.Fprintf(&b, "%s, replayed: %s\n", head, s.Finding)
			(&shower{b: &b}).show(e)
		}
		if _, err := io.WriteString(c.stdout, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// replayTest replays the executions of a litmus test.
func (c *exploreCommand) replayTest(ctx context.Context, file string, t *litmus.Test) error {
	return c.replays(t.Name, file, func(s *savedExecution) (*explore.Execution, error) {
		opt := c.opt
		opt.Unroll = s.Unroll
		return explore.Replay(ctx, explore.FromLitmus(t), opt, s.Execution)
	})
}

// replayKernel replays the executions of a kernel, each with its launch.
func (c *exploreCommand) replayKernel(ctx context.Context, job *driver.Job) error {
	at := job.Format(driver.KernelPlace(job.Kernel).Start)
	return c.replays(job.Kernel.Demangled, at, func(s *savedExecution) (*explore.Execution, error) {
		opt := exhaustive.Options{Options: c.opt}
		opt.Unroll = s.Unroll
		return exhaustive.Replay(ctx, job, &opt, s.Grid, s.Block, s.Execution)
	})
}

// unused reports saved executions of tests or kernels that the input does not have.
func (c *exploreCommand) unused() error {
	for i := range c.replay {
		if s := &c.replay[i]; s.Command != "" {
			return inputError{fmt.Errorf("the input has no test or kernel %q, whose execution is saved",
				s.Name)}
		}
	}
	return nil
}
