package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/project"
	"heddle/internal/source"
)

// oneFile is the part that fix and sync share: both take one file, change it, and write a report
// and the changed text.
type oneFile struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            check.Options
	in             inputFlags
	// -w: replace the source file
	write bool
	// -o: the file for the changed text; empty means standard output
	output        string
	format, color string
	html          string // the file of an HTML report; empty: none
}

// command makes a cobra command with one input file. spec has its name and help, but no arguments
// and flags. run gets the opened input; the flags are parsed and checked by then.
func (c *oneFile) command(spec cobra.Command, run func(*cobra.Command,
	driver.Input) error) *cobra.Command {
	cmd := &spec
	cmd.Long += launchHelp
	cmd.Args = exactly(1, "one input file")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		if err := checkNumbers(&c.opt); err != nil {
			return err
		}
		limitMemory(&c.opt)
		input, err := c.open(files[0])
		if err != nil {
			return inputError{err}
		}
		return run(cmd, input)
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	launchFlags(fs, &c.opt.Options, nil)
	engineFlags(fs, &c.opt)
	fs.BoolVarP(&c.write, "write", "w", false, "write the change into the source file")
	fs.StringVarP(&c.output, "output", "o", "", "write the changed text to `FILE`")
	fs.Var(newChoice(&c.format, "text", "json"), "format",
		"report as `FORMAT` text or json (on standard output)")
	fs.Var(newChoice(&c.color, "auto", "always", "never"), "color",
		"use color: `WHEN` is auto, always or never")
	fs.StringVar(&c.html, "html", "",
		"also write an HTML report to `FILE`: the patch with its reasons, in one file that needs no "+
			"network")
	return cmd
}

// endFlags defines the flags that follow those of the command itself in its help.
func (c *oneFile) endFlags(cmd *cobra.Command) *cobra.Command {
	c.in.define(cmd.Flags())
	lowerFlags(cmd.Flags(), &c.opt.Lower)
	return cmd
}

// open resolves the argument to one input and creates the set of files. A directory is rejected,
// and so are combinations of -w with -o or standard input, which leave open where the text goes.
func (c *oneFile) open(arg string) (driver.Input, error) {
	if dir, ok := project.Directory(arg); ok {
		return driver.Input{}, fmt.Errorf("%s is a directory; expected one file", dir)
	}
	inputs, err := c.in.inputs([]string{arg}, c.stdin, c.stderr)
	if err != nil {
		return driver.Input{}, err
	}
	switch {
	case c.write && c.output != "":
		return driver.Input{}, errors.New("-w rewrites the file in place and cannot be combined with -o")
	case c.write && inputs[0].Content != nil:
		return driver.Input{}, errors.New("-w needs a file to write to; use -o FILE for standard input")
	}
	c.opt.Database = c.in.database
	c.opt.Files = source.NewSet()
	if err := c.in.config.read(c.opt.Files, c.mistakes(nil)); err != nil {
		return driver.Input{}, err
	}
	c.in.config.apply(&c.opt.Options)
	return inputs[0], nil
}

// mistakes returns a printer for findings: to standard error, and to the HTML report if page is not
// nil.
func (c *oneFile) mistakes(page *reportFile) diag.Printer {
	text := diag.NewText(c.stderr, c.opt.Files, useColor(c.color, c.stderr))
	if page == nil {
		return text
	}
	return both{text, page.findings()}
}

// save writes the changed text. With -o it is the text of the named file, unchanged if nothing in
// it changed; with -w every file that changed is overwritten, in sorted order, since inlined
// functions can be in headers.
func (c *oneFile) save(patched map[string][]byte, files *source.Set, name string) error {
	switch {
	case c.output != "":
		// -o promises a file in any case, so that a build can depend on it.
		text, changed := patched[name]
		if !changed {
			if f := files.Named(name); f != nil {
				text = f.Content
			}
		}
		return os.WriteFile(c.output, text, 0o666)
	case c.write:
		for _, n := range slices.Sorted(maps.Keys(patched)) {
			if err := overwrite(n, patched[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// prints reports whether the patch of a named file is only printed, and can be applied by -w.
func (c *oneFile) prints(name string) bool {
	return !c.write && c.output == "" && name != "-"
}

// unchanged says of a file of which the patch was only printed that it is as it was.
func (c *oneFile) unchanged(name string) {
	if c.prints(name) && c.format != "json" {
		fmt.Fprintf(c.stderr, "heddle: %s is unchanged: -w writes the patch into it\n", name)
	}
}

// overwrite replaces the text of an existing file and keeps its permissions.
func overwrite(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, info.Mode().Perm())
}

// exitWith returns the error with which a command ends for an exit code: nil for exitClean.
func exitWith(code int) error {
	if code == exitClean {
		return nil
	}
	return exitError(code)
}
