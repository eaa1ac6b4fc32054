package diag

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"heddle/internal/source"
)

// JUnit collects findings and verdicts, and Close writes them as JUnit XML: a test suite for each
// input and a test case for each kernel. The mapping of results is:
//
//   - A bug is a failure.
//   - Unknown and unsupported are skipped, with the reason: the kernel has neither passed nor
//     failed, and a limit of heddle is not an error in the kernel. The exit code tells them from
//     a pass.
//   - An error in the input is an error, in a case "(input)" if it concerns no kernel.
type JUnit struct {
	w      io.Writer
	files  *source.Set
	paths  paths
	suites []*junitSuite
}

// NewJUnit returns a renderer that resolves positions in files. Names of files below base become
// relative to it.
func NewJUnit(w io.Writer, files *source.Set, base string) *JUnit {
	return &JUnit{w: w, files: files, paths: paths{base}}
}

// junitSuites is the root element; its sums are those of its suites.
type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Errors   int           `xml:"errors,attr"` // no "skipped" here: the schema of Jenkins rejects it
	Suites   []*junitSuite `xml:"testsuite"`
}

// junitSuite is one input. Each case counts once, as an error, a failure or skipped, in this order.
type junitSuite struct {
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Cases    []*junitCase `xml:"testcase"`
}

// junitCase is one kernel of an input. The fields without tags collect results until Close.
type junitCase struct {
	Class   string         `xml:"classname,attr"`
	Name    string         `xml:"name,attr"`
	Failure *junitProblem  `xml:"failure"`
	Errors  []junitProblem `xml:"error"`
	Skipped *junitProblem  `xml:"skipped"`
	Out     string         `xml:"system-out,omitempty"`

	codes []string
	text  strings.Builder // findings
	done  bool            // has its verdict
}

// junitProblem is the content of an error, failure or skipped element. Type is a code or a verdict.
type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Finding adds a finding to the case of its kernel. Notes about the input are dropped, and
// suppressed findings only count in the verdict.
func (j *JUnit) Finding(d *Diagnostic) error {
	inputs := d.Code.Family() == Inputs
	name := d.Kernel
	if name == "" {
		name = "(input)"
	}
	if inputs && d.Severity == Note {
		return nil
	}
	c := j.open(d.Input, name)
	var b strings.Builder
	if err := NewText(&b, j.files, false).Finding(d); err != nil {
		return err
	}
	switch {
	case d.Suppressed != nil: // the verdict counts it
	case inputs && d.Severity == Error:
		c.Errors = append(c.Errors, junitProblem{Message: d.Message, Type: string(d.Code),
			Text: b.String()})
	case d.Severity == Error:
		c.codes = append(c.codes, string(d.Code))
		c.text.WriteString(b.String())
	default:
		c.Out += b.String()
	}
	return nil
}

// Verdict ends the case of a kernel. Later findings of the same name start a new case.
func (j *JUnit) Verdict(v *Verdict) error {
	c := j.open(v.Input, cmp.Or(v.Kernel, "(input)"))
	c.done = true
	name := v.Kind.String()
	c.Out += name + ": " + v.Text() + "\n"
	switch v.Kind {
	case Bug:
		c.Failure = &junitProblem{Message: cmp.Or(summary(c.codes), name), Type: name,
			Text: c.text.String()}
	case Unknown, Unsupported:
		c.Skipped = &junitProblem{Message: name + ": " + v.Text()}
	}
	return nil
}

// summary lists each code once with the number of its findings.
func summary(codes []string) string {
	times := make(map[string]int)
	var order []string
	for _, c := range codes {
		if times[c]++; times[c] == 1 {
			order = append(order, c)
		}
	}
	for i, c := range order {
		if times[c] > 1 {
			order[i] = fmt.Sprintf("%s (%d times)", c, times[c])
		}
	}
	return strings.Join(order, ", ")
}

// noFile is the name of the file where a format demands one and there is none.
const noFile = "(no file)"

// open returns the case of that name without a verdict, and makes one if there is none. A name may
// have several cases, since two modules of a binary may define kernels with the same name.
func (j *JUnit) open(input, name string) *junitCase {
	file := noFile
	if input != "" {
		file, _ = j.paths.rel(input)
	}
	var s *junitSuite
	for _, t := range j.suites {
		if t.Name == file {
			s = t
		}
	}
	if s == nil {
		s = &junitSuite{Name: file}
		j.suites = append(j.suites, s)
	}
	for _, c := range s.Cases {
		if c.Name == name && !c.done {
			return c
		}
	}
	c := &junitCase{Class: file, Name: name}
	s.Cases = append(s.Cases, c)
	return c
}

// Close counts the results of each suite and writes the document. It is called once.
func (j *JUnit) Close() error {
	all := junitSuites{Name: "heddle", Suites: j.suites}
	for _, s := range j.suites {
		for _, c := range s.Cases {
			s.Tests++
			switch { // one case counts once
			case len(c.Errors) > 0:
				s.Errors++
			case c.Failure != nil:
				s.Failures++
			case c.Skipped != nil:
				s.Skipped++
			}
		}
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	if _, err := io.WriteString(j.w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(j.w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(j.w, "\n")
	return err
}
