package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Explain prints the documentation of one code.
func Explain(w io.Writer, d Doc) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n%s\n\nWhat to do\n\n%s\n\nExample\n\n", d.Code, d.Title, d.Text, d.Fix)
	fmt.Fprintf(b, "    $ heddle run %s\n\n", strings.TrimLeft(strings.Join(d.Example.Flags, " ")+" "+d.Example.File, " "))
	for l := range strings.Lines(d.Example.Text) {
		fmt.Fprintf(b, "    %s", l)
	}
	return b.Flush()
}

// List prints all codes with their titles.
func List(w io.Writer) error {
	b := bufio.NewWriter(w)
	last := Family(255)
	for _, d := range Docs() {
		if d.Family != last {
			if last != 255 {
				fmt.Fprintln(b)
			}
			fmt.Fprintf(b, "%s\n", d.Family)
			last = d.Family
		}
		fmt.Fprintf(b, "  %-24s%s\n", d.Code, d.Title)
	}
	fmt.Fprint(b, "\nheddle explain CODE shows one with an example.\n")
	return b.Flush()
}
