package report

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/source"
)

// Repair is what was done to one kernel.
type Repair struct {
	Kernel, Status string
	Good           bool // nothing is left to be done
	Steps          []Step
	Cost           *Cost
	Why            string // why that is enough, or why there is none
	Notes          []string
	After          *diag.Verdict // on the kernel as it is repaired; nil: there is none
}

// Step is one part of a repair.
type Step struct {
	Text string     // "barrier after line 14"
	At   source.Pos // in the old text: where it is changed, or what stays; not valid: nowhere
	Why  []string
}

// Cost is what the barriers cost by a cost model.
type Cost struct {
	Before, After float64
	Least         bool
	By            string // who judged the placements; empty: nothing to say
}

// repair is a Repair as the template prints it.
type repair struct {
	*Repair
	Verdict string // name of the kind
	Text    string // of the verdict; empty if Why has it
	Steps   []step
	inPatch map[int]bool // numbers of steps
}

type step struct {
	Number   int
	Text, At string
	Why      []string
	at       source.Pos
}

// Repair adds the repair of a kernel.
func (h *HTML) Repair(r *Repair) {
	out := repair{Repair: r, inPatch: h.inPatch}
	if r.After != nil {
		if out.Verdict = r.After.Kind.String(); !strings.Contains(r.Why, r.After.Text()) {
			out.Text = r.After.Text()
		}
	}
	for _, s := range r.Steps {
		h.steps++
		out.Steps = append(out.Steps, step{h.steps, s.Text, h.at(source.Span{Start: s.At}), s.Why, s.At})
	}
	h.page.Repairs = append(h.page.Repairs, out)
}

// Patch says what the repairs of all kernels change in a file, as a unified diff of it. Repairs come before.
func (h *HTML) Patch(f *source.File, diff string) {
	rows := rowsOf(diff)
	for _, r := range h.page.Repairs {
		for _, s := range r.Steps {
			if s.at.File() != f.ID {
				continue
			}
			if i := nearest(rows, s.at.Line()); i >= 0 {
				rows[i].Steps = append(rows[i].Steps, s)
				h.inPatch[s.Number] = true
			}
		}
	}
	h.page.Patch = append(h.page.Patch, rows...)
}

// Rest are the steps of a repair that the patch does not show.
func (r repair) Rest() []step {
	return slices.DeleteFunc(slices.Clone(r.Steps), func(s step) bool { return r.inPatch[s.Number] })
}

// Edits is Patch for edits of any files.
func (h *HTML) Edits(edits []diag.Edit) error {
	return h.byFile(edits, h.Patch)
}

// byFile calls use with the unified diff of each file that edits change.
func (h *HTML) byFile(edits []diag.Edit, use func(*source.File, string)) error {
	by := map[source.FileID][]diag.Edit{}
	var order []source.FileID
	for _, e := range edits {
		id := e.Span.Start.File()
		if by[id] == nil {
			order = append(order, id)
		}
		by[id] = append(by[id], e)
	}
	for _, id := range order {
		f := h.files.File(id)
		if f == nil {
			return errors.New("the file is not known")
		}
		d, err := edit.Diff(f, by[id])
		if err != nil {
			return err
		}
		use(f, d)
	}
	return nil
}

// row is a line of a diff.
type row struct {
	Class    string // file, hunk, add, del, same
	Old, New string // numbers of the line; empty: it is not in that text
	Text     string
	Steps    []step // what the change is for
	line     int    // of the old text: its own, or that before which it comes
}

// rowsOf reads a unified diff. How many lines a hunk has its head says: what looks like the head of a file may be text.
func rowsOf(diff string) []row {
	var rows []row
	var from, to, olds, news int // the next lines, and how many of the hunk are left
	for text := range strings.Lines(diff) {
		text = strings.TrimRight(text, "\r\n")
		r := row{Class: "file", Text: text, line: from}
		mark := byte('\\')
		if text != "" {
			mark = text[0]
		}
		switch {
		case strings.HasPrefix(text, "@@ ") && olds == 0 && news == 0:
			r.Class = "hunk"
			from, olds, to, news = hunkOf(text)
		case mark == '+' && news > 0:
			r.Class, r.New = "add", strconv.Itoa(to)
			to, news = to+1, news-1
		case mark == '-' && olds > 0:
			r.Class, r.Old = "del", strconv.Itoa(from)
			from, olds = from+1, olds-1
		case mark == ' ' && olds > 0:
			r.Class, r.Old, r.New = "same", strconv.Itoa(from), strconv.Itoa(to)
			from, to, olds, news = from+1, to+1, olds-1, news-1
		case mark == '\\':
			r.Class = "hunk"
		}
		rows = append(rows, r)
	}
	return rows
}

// hunkOf reads the head of a hunk: "@@ -3,7 +3,9 @@". The start of an empty range is the line before it.
func hunkOf(text string) (from, olds, to, news int) {
	one := func(s string) (start, n int) {
		first, count, given := strings.Cut(s[1:], ",")
		start, _ = strconv.Atoi(first) // what package edit prints
		if n = 1; given {
			n, _ = strconv.Atoi(count)
		}
		if n == 0 {
			start++
		}
		return start, n
	}
	if words := strings.Fields(text); len(words) > 2 {
		from, olds = one(words[1])
		to, news = one(words[2])
	}
	return from, olds, to, news
}

// far is how many lines a step may be from the change that it is shown at: an insertion at the end of a line is before the next.
const far = 1

// nearest is the changed row of a diff that is nearest to a line of the old text, the last of those that change together; -1 if
// none is near.
func nearest(rows []row, line int) int {
	best, distance := -1, far+1
	for i := range rows {
		if rows[i].Class != "add" && rows[i].Class != "del" {
			continue
		}
		d := rows[i].line - line
		if d = max(d, -d); d < distance || d == distance && i == best+1 {
			best, distance = i, d
		}
	}
	return best
}
