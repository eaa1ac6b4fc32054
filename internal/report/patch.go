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

// Repair is the result of repairing one kernel.
type Repair struct {
	Kernel string        // demangled name
	Status string        // "repaired", "not repaired", "unchanged", ...
	Good   bool          // the kernel needs no further change
	Steps  []Step        // in the order of the text
	Cost   *Cost         // nil: not computed
	Why    string        // why the repair is sufficient, or why there is none
	Notes  []string      // further remarks, one line each
	After  *diag.Verdict // on the repaired kernel; nil: none
	Others []Other       // repairs that would do as well
}

// Other is a repair that is not that of the patch.
type Other struct {
	Title string
	Steps []Step
}

// Step is one part of a repair.
type Step struct {
	Text string     // "inserted: barrier after line 14"
	At   source.Pos // in the old text; invalid: the step has no place
	Why  []string   // pairs of accesses that it separates, or other reasons
}

// Cost is the cost of the barriers by a cost model, in units of one barrier executed once.
type Cost struct {
	Before float64 // of the original kernel
	After  float64 // of the repaired kernel
	Least  bool    // After is proved minimal
	By     string  // the oracle that judged the placements; empty: not shown
}

// repair is a Repair as the template prints it.
type repair struct {
	*Repair
	Verdict string // name of the kind
	Text    string // of the verdict; empty if Why contains it
	Steps   []step // numbered over all repairs of the page
	Others  []other
	inPatch map[int]bool // by number of a step: the patch shows it
}

// other is an Other as the template prints it: each step with the lines around it.
type other struct {
	Title string
	Steps []place
}

// step is a Step as the template prints it.
type step struct {
	Number   int
	Text, At string
	Why      []string
	at       source.Pos
}

// Repair adds the repair of a kernel. All repairs must be added before Patch or Edits, which attach
// the steps to the lines of the diff.
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
	for _, o := range r.Others {
		one := other{Title: o.Title}
		for _, s := range o.Steps {
			one.Steps = append(one.Steps, h.place(source.Span{Start: s.At}, nil, s.Text))
		}
		out.Others = append(out.Others, one)
	}
	h.page.Repairs = append(h.page.Repairs, out)
}

// Patch adds the unified diff of a file, and shows each step of the repairs at the line of the diff
// that it explains.
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

// Rest returns the steps that the patch does not show, such as kept barriers, which change no line.
func (r repair) Rest() []step {
	return slices.DeleteFunc(slices.Clone(r.Steps), func(s step) bool { return r.inPatch[s.Number] })
}

// Unapplied says that the files are as they were: the patch is only shown.
func (h *HTML) Unapplied() { h.page.Unapplied = true }

// Edits adds the unified diff of each edited file. It fails if a file is unknown or edits overlap.
func (h *HTML) Edits(edits []diag.Edit) error {
	return h.byFile(edits, h.Patch)
}

// byFile calls use with the unified diff of each edited file, in the order of the edits. It stops
// at the first error.
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
			return errors.New("the edited file is unknown")
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
	Old, New string // line numbers; empty: the line is not in that text
	Text     string
	Steps    []step // of the repairs, shown below the line
	line     int    // in the old text: its own number, or that of the next old line
}

// rowsOf parses a unified diff. It counts the lines of each hunk, since a line of text may look
// like the head of a file.
func rowsOf(diff string) []row {
	// olds and news are 0 outside of hunks, where every line belongs to a file header.
	var rows []row
	var from, to, olds, news int // the next line numbers, and the lines left in the hunk
	for text := range strings.Lines(diff) {
		text = strings.TrimRight(text, "\r\n")
		r := row{Class: "file", Text: text, line: from}
		mark := byte('\\') // "\ No newline at end of file", and empty lines, which no hunk contains
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

// hunkOf parses the head of a hunk: "@@ -3,7 +3,9 @@". The start of an empty range is the number of
// the line before it, which is corrected here.
func hunkOf(text string) (from, olds, to, news int) {
	one := func(s string) (start, n int) {
		first, count, given := strings.Cut(s[1:], ",")
		start, _ = strconv.Atoi(first) // always a number: package edit printed it
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

// far is the maximum distance in lines between a step and the change where it is shown. An
// insertion at the end of a line appears in the diff before the next line.
const far = 1

// nearest returns the index of the changed row nearest to a line of the old text, and the last one
// of a group of adjacent changes. It returns -1 if every change is more than far lines away.
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
