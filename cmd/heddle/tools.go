package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/project"
)

// newPTX makes the command that shows what heddle analyzes, for questions about lowering.
func newPTX(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	p := ptxCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "ptx [flags] FILE",
		Short: "print the PTX that heddle analyses",
		Long: `ptx compiles a file for analysis, as check does, and prints the PTX. A PTX file is parsed and printed
unchanged. For an ELF file or a fatbin, ptx prints the PTX that the file contains. --list shows the
images of such a file; --image N selects one.`,
		Example: "  heddle ptx kernel.cu\n  heddle ptx --list app\n  heddle ptx --image 3 app",
		Args:    exactly(1, "one input file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := p.run(cmd.Context(), files[0]); err != nil {
				return inputError{err}
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	p.in.define(fs)
	lowerFlags(fs, &p.opt)
	fs.BoolVar(&p.list, "list", false,
		"list the images of an ELF file or a fatbin: kind, architecture, size, compression, kernels")
	fs.IntVar(&p.image, "image", 0, "print image `N` of an ELF file or a fatbin")
	fs.StringVarP(&p.output, "output", "o", "", "write to `FILE` instead of standard output")
	cmd.MarkFlagsMutuallyExclusive("list", "image")
	return cmd
}

// ptxCommand is heddle ptx.
type ptxCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            lower.Options
	in             inputFlags
	list           bool
	image          int
	output         string
}

// width returns the terminal width that tables are fitted to; 0 (any) if the text goes to a file.
func (p *ptxCommand) width() int {
	if p.output != "" {
		return 0
	}
	return terminalWidth(p.stdout)
}

// run prints the PTX of one file, the table of its images, or one image. Warnings and compiler
// output go to standard error.
func (p *ptxCommand) run(ctx context.Context, arg string) error {
	if dir, ok := project.Directory(arg); ok {
		return fmt.Errorf("%s is a directory; expected one file", dir)
	}
	inputs, err := p.in.inputs([]string{arg}, p.stdin, p.stderr)
	if err != nil {
		return err
	}
	var text []byte
	// cobra has excluded --list together with --image.
	switch in := inputs[0].Input; {
	case p.list:
		var b bytes.Buffer
		err = listImages(&b, in, p.width())
		text = b.Bytes()
	case p.image != 0:
		text, err = imageText(in, p.image)
	default:
		text, err = p.lower(ctx, in)
	}
	if err != nil {
		return err
	}
	if p.output != "" {
		return os.WriteFile(p.output, text, 0o666)
	}
	_, err = p.stdout.Write(text)
	return err
}

// lower compiles a file and returns its PTX. A binary can contain several modules; they cannot be
// joined into one valid PTX text, so the user must select one.
func (p *ptxCommand) lower(ctx context.Context, in lower.Input) ([]byte, error) {
	results, err := lower.Lower(ctx, in, p.opt)
	var ce *lower.CompileError
	if errors.As(err, &ce) {
		fmt.Fprintln(p.stderr, strings.TrimRight(ce.Output, "\n"))
	}
	if err != nil {
		return nil, err
	}
	for _, w := range results[0].Warnings {
		fmt.Fprintf(p.stderr, "heddle: warning: %s\n", w)
	}
	for _, k := range results[0].Omitted {
		fmt.Fprintf(p.stderr, "heddle: warning: %s is not in the PTX: %s\n", k.Demangled, k.Reason)
	}
	// One module is the common case: each architecture of a build adds one.
	if len(results) > 1 {
		return nil, fmt.Errorf("%s has %d modules of PTX; choose one with --image N "+
			"(heddle ptx --list %s shows them)", in.Name, len(results), in.Name)
	}
	if results[0].Lang == lower.PTX {
		return results[0].PTX, driver.SyntaxError(in.Name, results[0].PTX)
	}
	return results[0].PTX, nil
}

// newExplain makes the command behind every code that a report prints.
func newExplain(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE|TERM]",
		Short: "explain a code or a term of a report, or list them all",
		Long: `explain prints what the code of a finding means, how to repair it, and an example that shows it, followed by
the same example repaired. For a term of a report (a verdict, "barrier interval", "counterexample") it prints
the definition. Without an argument it lists all codes and terms.`,
		Example: "  heddle explain race-shared\n  heddle explain barrier interval",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return diag.List(stdout, terminalWidth(stdout))
			}
			return explain(stdout, strings.Join(args, " "))
		},
	}
}

// explain prints the description of a term or a code. A few names, such as "divergence", can be
// both; then both are printed. An unknown name is answered with the nearest known ones.
func explain(w io.Writer, name string) error {
	term, isTerm := diag.LookupTerm(name)
	doc, isCode := diag.Lookup(diag.Code(strings.ToLower(name)))
	if !isTerm && !isCode {
		hint := "heddle explain lists all codes and terms"
		if near := diag.Nearest(name); len(near) > 0 {
			hint = "similar: " + strings.Join(near, ", ")
		}
		return inputError{fmt.Errorf("unknown code or term %q; %s", name, hint)}
	}
	if isTerm {
		if err := diag.ExplainTerm(w, term); err != nil {
			return err
		}
	}
	if isTerm && isCode {
		if _, err := fmt.Fprint(w, "\nThe code of the same name\n\n"); err != nil {
			return err
		}
	}
	if isCode {
		return diag.Explain(w, doc)
	}
	return nil
}

// exactly returns a check for n arguments that says what they should be, which cobra.ExactArgs does
// not.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("expected %s, got %d", what, len(args))
		}
		return nil
	}
}
