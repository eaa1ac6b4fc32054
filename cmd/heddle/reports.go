package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// formats are the words of --format, and those of --report.
var formats = []string{"text", "json", "sarif", "github", "gitlab", "junit"}

// newPrinter returns the printer of a format for programs; nil for text, which has more options.
func newPrinter(format string, w io.Writer, files *source.Set) diag.Printer {
	switch format {
	case "json":
		return diag.NewJSON(w, files)
	case "sarif":
		return diag.NewSARIF(w, files, workingDirectory(), moduleVersion(), siteURL())
	case "github":
		return diag.NewGitHub(w, files, workingDirectory())
	case "gitlab":
		return diag.NewGitLab(w, files, workingDirectory())
	case "junit":
		return diag.NewJUnit(w, files, workingDirectory())
	}
	return nil
}

// reportFlags name the files that a command writes beside its output.
type reportFlags struct {
	summary string     // a file to append to; empty: none
	reports []reportTo // in the order of the flags
}

// define adds the flags to a command.
func (r *reportFlags) define(fs *pflag.FlagSet) {
	fs.Var((*reportFlag)(&r.reports), "report",
		"also write `FORMAT=FILE`, such as sarif=heddle.sarif: any format of --format; may be repeated")
	fs.StringVar(&r.summary, "summary", "",
		"append a summary to `FILE`, such as $GITHUB_STEP_SUMMARY: tables of findings and verdicts in "+
			"Markdown")
}

// reportTo is one --report.
type reportTo struct{ format, name string }

// reportFlag is the value of --report.
type reportFlag []reportTo

// Type and String implement pflag.Value.
func (*reportFlag) Type() string { return "report" }

func (f *reportFlag) String() string { return strings.Join(f.values(), " ") }

// values implements repeated.
func (f *reportFlag) values() []string {
	var words []string
	for _, r := range *f {
		words = append(words, r.format+"="+r.name)
	}
	return words
}

// Set reads FORMAT=FILE.
func (f *reportFlag) Set(s string) error {
	format, name, _ := strings.Cut(s, "=")
	if !slices.Contains(formats, format) || name == "" {
		return fmt.Errorf("expected FORMAT=FILE with a FORMAT of %s", strings.Join(formats, ", "))
	}
	*f = append(*f, reportTo{format, name})
	return nil
}

// openFile is a file for a report, and what makes the printer for it.
type openFile struct {
	file    *os.File
	printer func(io.Writer, *source.Set) diag.Printer
}

// open creates the files before anything is checked, so that a path that cannot be written is
// reported at once and not after minutes of work. A summary is appended to its file, as GitHub
// expects.
func (r *reportFlags) open() ([]openFile, error) {
	var out []openFile
	for _, to := range r.reports {
		f, err := os.Create(to.name)
		if err != nil {
			return nil, fmt.Errorf("--report: %w", err)
		}
		out = append(out, openFile{f, func(w io.Writer, files *source.Set) diag.Printer {
			if to.format == "text" {
				return diag.NewText(w, files, false)
			}
			return newPrinter(to.format, w, files)
		}})
	}
	if r.summary != "" {
		f, err := os.OpenFile(r.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return nil, fmt.Errorf("--summary: %w", err)
		}
		out = append(out, openFile{f, func(w io.Writer, files *source.Set) diag.Printer {
			return diag.NewMarkdown(w, files, workingDirectory())
		}})
	}
	return out, nil
}

// print returns the printer of a file, which closes the file as well.
func (o openFile) print(files *source.Set) filePrinter {
	return filePrinter{o.printer(o.file, files), o.file}
}

// filePrinter is a printer whose output goes to a file.
type filePrinter struct {
	diag.Printer
	file *os.File
}

// Close implements diag.Printer; an error names the file.
func (p filePrinter) Close() error { return errors.Join(p.Printer.Close(), p.file.Close()) }
