package report

import (
	"fmt"
	"html/template"
	"strings"

	"heddle/internal/diag"
)

// mostGroups is the maximum number of groups that are drawn. A block has up to 32 warps, each of
// which may be at several places.
const mostGroups = 16

// waiting draws groups of threads as rows. The line of a group ends where it waits, or before that
// if it has exited.
func (h *HTML) waiting(groups []diag.Group) template.HTML {
	if len(groups) == 0 {
		return ""
	}
	const row, names, end = 40, 236, wide - 250
	var s svg
	shown := groups[:min(len(groups), mostGroups)]
	label := []string{}
	for i, g := range shown {
		y := 24 + i*row
		// "32 threads (0,0,0) to (31,0,0) of warp 0" takes two lines.
		threads, warp, found := strings.Cut(g.Threads, " of ")
		s.text("thread", 4, y-1, "start", threads)
		if found {
			s.text("note", 4, y+13, "start", warp)
		}
		if g.At == "" {
			s.addf(`<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, names, y, names+40, y)
			s.text("op", names+48, y+4, "start", "× exited before it")
			label = append(label, g.Threads+" have exited")
			continue
		}
		// Groups at the same place end in the same column.
		x := names + 60 + h.column(shown, i)*(end-names-60)/len(shown)
		s.addf(`<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, names, y, x, y)
		s.addf(`<line class="barrier" x1="%d" y1="%d" x2="%d" y2="%d"/>`, x, y-12, x, y+12)
		s.text("op", x+8, y-1, "start", "waits: "+g.At)
		s.text("note", x+8, y+13, "start", short(h.at(g.Span)))
		label = append(label, fmt.Sprintf("%s wait at %s, %s", g.Threads, h.at(g.Span), g.At))
	}
	height := 24 + len(shown)*row
	more := ""
	if n := len(groups) - len(shown); n > 0 {
		more = fmt.Sprintf("and %d more groups", n)
		s.text("note", 4, height-4, "start", more)
		height += 12
	}
	said := strings.Join(label, "; ")
	return s.done("wide", wide, height, said) + h.waitingNarrow(shown, more, said)
}

// waitingNarrow is the drawing for narrow screens: what a group waits for is below its name.
func (h *HTML) waitingNarrow(groups []diag.Group, more, label string) template.HTML {
	const row, end = 58, 40
	var s svg
	for i, g := range groups {
		y := 16 + i*row
		s.text("thread", 4, y, "start", g.Threads)
		s.addf(`<line class="life" x1="4" y1="%d" x2="%d" y2="%d"/>`, y+18, end, y+18)
		if g.At == "" {
			s.text("op", end+8, y+22, "start", "× exited before it")
			continue
		}
		s.addf(`<line class="barrier" x1="%d" y1="%d" x2="%d" y2="%d"/>`, end, y+8, end, y+30)
		s.text("op", end+8, y+17, "start", "waits: "+g.At)
		s.text("note", end+8, y+31, "start", short(h.at(g.Span)))
	}
	height := 16 + len(groups)*row
	if more != "" {
		s.text("note", 4, height-4, "start", more)
		height += 12
	}
	return s.done("narrow", narrowLayout.width, height, label)
}

// column returns the number of the place where group i waits: places are numbered from 0 in the
// order in which they first appear.
func (h *HTML) column(groups []diag.Group, i int) int {
	n := 0
	for j := range groups[:i] {
		if groups[j].At == "" {
			continue
		}
		if groups[j].Span == groups[i].Span {
			return h.column(groups, j)
		}
		first := true
		for k := range groups[:j] {
			first = first && (groups[k].At == "" || groups[k].Span != groups[j].Span)
		}
		if first {
			n++
		}
	}
	return n
}
