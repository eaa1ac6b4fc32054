package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table prints rows in aligned columns.
type table struct{ w *tabwriter.Writer }

// newTable starts a table with the given column heads.
func newTable(w io.Writer, head ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t.w, strings.Join(head, "\t"))
	return t
}

// row adds a row.
func (t table) row(cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, c)
	}
	fmt.Fprintln(t.w)
}

// flush prints the table: the widths of the columns are known only at the end.
func (t table) flush() { t.w.Flush() }
