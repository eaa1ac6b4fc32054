package diag

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"heddle/internal/table"
)

// Explain prints the documentation of one code: title, text, fix, and the example before and after
// the repair. Errors are those of writing.
func Explain(w io.Writer, d Doc) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n%s\n\nWhat to do\n\n%s\n\nExample\n\n", d.Code, d.Title, d.Text, d.Fix)
	d.Example.print(b)
	fmt.Fprint(b, "\nThe same after the repair\n\n")
	repaired := d.Repaired()
	if repaired.Text == d.Example.Text {
		fmt.Fprintf(b, "    $ %s\n", repaired.CommandLine())
	} else {
		repaired.print(b)
	}
	return b.Flush()
}

// Repaired returns Fixed with its empty fields filled from Example.
func (d *Doc) Repaired() Example {
	e := d.Fixed
	e.File, e.Text = cmp.Or(e.File, d.Example.File), cmp.Or(e.Text, d.Example.Text)
	e.Command = d.Example.Command
	if e.Flags == nil {
		e.Flags = d.Example.Flags
	}
	return e
}

// CommandLine returns the command line that runs the example.
func (e *Example) CommandLine() string {
	words := append([]string{"heddle", cmp.Or(e.Command, "run")}, e.Flags...)
	return strings.Join(append(words, e.File), " ")
}

// print writes the command and the file, indented by four columns.
func (e *Example) print(w io.Writer) {
	fmt.Fprintf(w, "    $ %s\n\n", e.CommandLine())
	for l := range strings.Lines(e.Text) {
		fmt.Fprintf(w, "    %s", l)
	}
}

// List prints all codes by family and all terms, each with its title, wrapped to width columns;
// 0 does not wrap.
func List(w io.Writer, width int) error {
	b := bufio.NewWriter(w)
	for family := range Family(Inputs + 1) {
		fmt.Fprintf(b, "%s\n", family)
		t := table.Table{Indent: 2}
		for _, d := range Docs() {
			if d.Family == family {
				t.Add(fmt.Sprintf("%-22s", d.Code), d.Title)
			}
		}
		if err := t.Write(b, width); err != nil {
			return err
		}
		fmt.Fprintln(b)
	}
	if err := listTerms(b, width); err != nil {
		return err
	}
	fmt.Fprint(b, "heddle explain CODE describes a code and shows an example; "+
		"heddle explain TERM defines a term.\n")
	return b.Flush()
}
