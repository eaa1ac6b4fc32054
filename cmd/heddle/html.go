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

// both prints to two printers.
type both [2]diag.Printer

func (b both) Finding(d *diag.Diagnostic) error {
	return errors.Join(b[0].Finding(d), b[1].Finding(d))
}

func (b both) Verdict(v *diag.Verdict) error {
	return errors.Join(b[0].Verdict(v), b[1].Verdict(v))
}

func (b both) Close() error { return errors.Join(b[0].Close(), b[1].Close()) }

// reportFile is an HTML report on its way to a file.
type reportFile struct {
	*report.HTML
	file *os.File
}

// createReport creates the file at once, so that a wrong name is told before anything is checked.
func createReport(name string, files *source.Set, command string) (*reportFile, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &reportFile{report.New(f, files, command, moduleVersion()), f}, nil
}

func (r *reportFile) Close() error { return errors.Join(r.HTML.Close(), r.file.Close()) }

// findings is the report for findings that come another way; they close nothing.
func (r *reportFile) findings() diag.Printer { return onlyFindings{r.HTML} }

type onlyFindings struct{ *report.HTML }

func (onlyFindings) Close() error { return nil }

// typed is the key of the arguments of the command line, as the user typed them, in a command's context.
type typed struct{}

// commandLine is what the user typed.
func commandLine(ctx context.Context) string {
	args, _ := ctx.Value(typed{}).([]string)
	return strings.Join(append([]string{"heddle"}, args...), " ")
}
