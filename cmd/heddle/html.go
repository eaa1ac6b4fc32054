package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/report"
	"heddle/internal/source"
)

// both sends everything to two printers: the output of the command and the HTML report. An error of
// one does not keep the other from being complete.
type both [2]diag.Printer

// Finding implements diag.Printer.
func (b both) Finding(d *diag.Diagnostic) error {
	return errors.Join(b[0].Finding(d), b[1].Finding(d))
}

// Verdict implements diag.Printer.
func (b both) Verdict(v *diag.Verdict) error {
	return errors.Join(b[0].Verdict(v), b[1].Verdict(v))
}

// Close closes both, even if the first fails: an HTML page that is not closed is empty.
func (b both) Close() error { return errors.Join(b[0].Close(), b[1].Close()) }

// reportFile is an HTML report and the file that it is written to. The page is written by Close,
// because its summary at the top needs all verdicts.
type reportFile struct {
	*report.HTML
	file *os.File
}

// createReport creates the file before anything is checked, so that a path that cannot be written
// is reported at once and not after minutes of work.
func createReport(name string, files *source.Set, command string) (*reportFile, error) {
	// An existing file is truncated, as with any output of the command.
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &reportFile{report.New(f, files, command, moduleVersion()), f}, nil
}

// Close writes the page and closes the file; an error of either is an error of the report.
func (r *reportFile) Close() error { return errors.Join(r.HTML.Close(), r.file.Close()) }

// findings returns a printer that adds findings to the report and does not close it. It serves the
// second stream of errors in the input, whose end is not the end of the report.
func (r *reportFile) findings() diag.Printer { return onlyFindings{r.HTML} }

// onlyFindings is a printer of findings for a report that another printer closes.
type onlyFindings struct{ diag.Printer }

// Close does nothing; the owner of the report closes it.
func (onlyFindings) Close() error { return nil }

// typed is the context key of the command line as the user typed it, before longForms.
type typed struct{}

// commandLine returns the command line as the user typed it, for the head of a report. It is not
// quoted for a shell.
func commandLine(ctx context.Context) string {
	args, _ := ctx.Value(typed{}).([]string)
	return strings.Join(append([]string{"heddle"}, args...), " ")
}
