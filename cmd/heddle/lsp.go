package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/check"
	"heddle/internal/config"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/lsp"
	"heddle/internal/source"
)

// newLSP makes the command that editors start. It runs until the editor closes the connection.
func newLSP(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	var e editorEngine
	cmd := &cobra.Command{
		Use:   "lsp [flags]",
		Short: "run a language server for an editor",
		Long: `lsp speaks the Language Server Protocol on standard input and output. It checks .cu, .cuh, .cl and .ptx documents
while they are edited and when they are saved, and shows verdicts on hover and above each kernel. docs/editor.md
describes the setup of VS Code and Neovim. Launches and compiler flags come from comments, host code and
heddle.toml, as for heddle check.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logf := func(text string) { fmt.Fprintf(stderr, "heddle lsp: %s\n", text) }
			err := lsp.NewServer(stdin, stdout, &e, moduleVersion(), siteURL(), logf).Serve(cmd.Context())
			if err != nil {
				return inputError{fmt.Errorf("lsp: %w", err)}
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&e.database, "database", "p", "",
		"compile with the flags of `DIR`/compile_commands.json")
	fs.Bool("stdio", true, "accepted because editors pass it; standard input and output are always "+
		"used")
	lowerFlags(fs, &e.lower)
	return cmd
}

// editorEngine implements lsp.Engine: it examines the text of a document as heddle check examines a
// file.
type editorEngine struct {
	lower    lower.Options
	database string
}

// Check examines a document in the mode of the request. While the user types, only emulation runs,
// since it answers in a fraction of a second; proofs follow on saving or by command.
func (e *editorEngine) Check(ctx context.Context, req lsp.Request) (*lsp.Report, error) {
	report := &lsp.Report{Files: source.NewSet()}
	common, inputs, err := e.prepare(req, report)
	if err != nil || inputs == nil {
		return report, err
	}
	opt := check.Options{Options: common, Mode: check.Run}
	switch req.Mode {
	case lsp.Full:
		opt.Mode = check.Check
	case lsp.Proof:
		opt.Mode = check.Verify
	}
	sum, err := check.Inputs(ctx, opt, inputs, func(d diag.Diagnostic) {
		report.Findings = append(report.Findings, compilerErrors(report.Files, d)...)
	})
	if err != nil {
		return nil, err
	}
	report.Verdicts = sum.Verdicts
	return report, nil
}

// prepare returns the options and the input of a request. It returns neither inputs nor an error
// for a document that is not in a language of kernels, such as a C++ file that an editor also
// sends, and if the configuration file is invalid: the findings of the report then say what is
// wrong, at the lines of that file.
func (e *editorEngine) prepare(req lsp.Request, report *lsp.Report) (driver.Options,
	[]driver.Input, error) {
	opt := driver.Options{
		Kernel: req.Kernel, Lower: e.lower, Database: e.database, Files: report.Files,
		Progress: func(p driver.Progress) { req.Progress(p.Kernel + ": " + p.Engine.String()) },
	}
	lang, ok := languageOf(req)
	if !ok {
		return opt, nil, nil
	}
	in := inputFlags{database: e.database}
	// The configuration is the one nearest to the document: the server was not started in a directory
	// that means anything.
	settings := configFlags{}
	mistakes := diag.FindingFunc(func(d *diag.Diagnostic) {
		report.Findings = append(report.Findings, *d)
	})
	if path, err := config.Find(filepath.Dir(req.Path)); err != nil {
		return opt, nil, err
	} else if path == "" {
		settings.none = true
	} else {
		settings.path = path
	}
	if err := settings.read(report.Files, mistakes); err != nil && len(report.Findings) == 0 {
		return opt, nil, err
	}
	settings.apply(&opt)
	inputs, err := in.inputs([]string{req.Path}, nil, io.Discard)
	if err != nil {
		return opt, nil, err
	}
	doc := &inputs[0]
	doc.Content, doc.Found, doc.Lang = req.Text, true, lang // a header without kernels is no mistake
	// The text comes from the editor and not from the file, so the compiler cannot search for headers
	// beside it unless told where that is.
	doc.Flags.Includes = append([]string{filepath.Dir(req.Path)}, doc.Flags.Includes...)
	return opt, inputs, nil
}

// languageOf returns the language of a document: by its extension, else by the name of the language
// in the editor, where users can assign one to any file.
func languageOf(req lsp.Request) (lower.Lang, bool) {
	if lang, ok := documentLang[strings.ToLower(filepath.Ext(req.Path))]; ok {
		return lang, true
	}
	lang, ok := editorLang[req.Language]
	return lang, ok
}

// editorLang maps the names that editors have for languages.
var editorLang = map[string]lower.Lang{"cuda": lower.CUDA, "cuda-cpp": lower.CUDA,
	"opencl": lower.OpenCL, "ptx": lower.PTX}

// documentLang maps the extension of a document to its language. Headers (.cuh) are included, since
// an editor opens them alone.
var documentLang = map[string]lower.Lang{".cu": lower.CUDA, ".cuh": lower.CUDA, ".hip": lower.CUDA,
	".cl": lower.OpenCL, ".ptx": lower.PTX, ".ll": lower.LLVM}

// compilerErrors splits the finding "compilation failed" into one finding for each line of the
// compiler's output that names a file of the set, so that the editor underlines that line. Lines
// about other files, such as system headers, are left out. If none remains, the original finding is
// returned: the user must see that nothing was checked.
func compilerErrors(files *source.Set, d diag.Diagnostic) []diag.Diagnostic {
	if d.Code != diag.CodeCompile {
		return []diag.Diagnostic{d}
	}
	var out []diag.Diagnostic
	for _, line := range d.Notes {
		m, ok := driver.ReadCompilerLine(files, line)
		if !ok {
			continue
		}
		one := d
		one.Message, one.Notes, one.Span, one.Severity = m.Text, nil, m.Span, m.Severity
		out = append(out, one)
	}
	if len(out) == 0 {
		return []diag.Diagnostic{d}
	}
	return out
}
