package fix

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/repair"
	"heddle/internal/source"
)

// What a form changes, in lines: people compare patches by that.

// removesLines reports whether a form changes or removes lines, beyond those for kernels before.
func (s *sourceFixer) removesLines(f *sourceForm) bool {
	removed, _ := s.lines(f)
	return removed > 0
}

// changedLines is the number of lines that a form removes or adds, beyond those for kernels before.
func (s *sourceFixer) changedLines(f *sourceForm) int {
	removed, added := s.lines(f)
	return removed + added
}

// lines counts the lines that the edits of a form remove and add. Its edits replace full lines.
func (s *sourceFixer) lines(f *sourceForm) (removed, added int) {
	for _, e := range f.edits {
		if slices.Contains(s.edits, e) {
			continue
		}
		r, a := s.linesOf(e)
		removed, added = removed+r, added+a
	}
	return removed, added
}

func (s *sourceFixer) linesOf(e edit.Edit) (removed, added int) {
	from, _ := s.user.Offset(e.Span.Start)
	to, _ := s.user.Offset(e.Span.End)
	return strings.Count(string(s.user.Content[from:to]), "\n"), strings.Count(e.New, "\n")
}

// dropEqual drops the alternatives that are the repair itself in the source: a place between two
// reads of a statement is one between its reads and its write there.
func (s *sourceFixer) dropEqual(k *ir.Func, r *repair.Result) {
	known := [][]step{s.bestSteps(k, r.Plan)}
	r.Alternatives = slices.DeleteFunc(r.Alternatives, func(a repair.Alternative) bool {
		steps := s.bestSteps(k, a.Plan)
		same := func(o []step) bool { return steps != nil && sameSteps(o, steps) }
		if slices.ContainsFunc(known, same) {
			return true
		}
		known = append(known, steps)
		return false
	})
}

// bestSteps are the steps that come first for each part of a plan; nil if it has no form.
func (s *sourceFixer) bestSteps(k *ir.Func, plan *repair.Plan) []step {
	must, open, err := s.fromPlan(k, plan)
	if err != nil {
		return nil
	}
	for _, c := range open {
		must = appendNew(must, c[0])
	}
	return must
}

// sameSteps reports whether two lists have the same steps, in whatever order.
func sameSteps(a, b []step) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x step) bool {
		return !slices.ContainsFunc(b, func(y step) bool { return sameStep(x, y) })
	})
}

// changesOf returns the changes that a form makes. They are those of the plan, given with their
// texts, unless the form needs more or fewer statements: a place in the head of a loop becomes one
// in the loop and one behind it.
func (s *sourceFixer) changesOf(f *sourceForm, plan []repair.Change, texts []Change) []Change {
	var out []Change
	added, objects, changed := 0, false, false
	for _, r := range f.rewritten {
		for _, st := range r.steps {
			objects = objects || st.object
			if st.object && st.replace != "" && st.split < 0 {
				changed = true
				out = append(out, s.becomes(st))
			}
			if st.split >= 0 || st.insert != nil && st.insert.Text != "" {
				added++
				out = append(out, s.changeOf(st))
			}
		}
	}
	for i, c := range plan {
		if !c.Old {
			added--
		} else if i < len(texts) && !changed {
			out = append(out, texts[i])
		}
	}
	if added == 0 && !objects {
		return texts
	}
	slices.SortStableFunc(out, func(a, b Change) int { return int(a.Span.Start) - int(b.Span.Start) })
	return out
}

// becomes describes a statement about an mbarrier that is replaced.
func (s *sourceFixer) becomes(st step) Change {
	was := ""
	if use := s.unit.UseAt(st.fn, st.at); use != nil {
		was = firstOf(st.fn.Text(use.Statement))
	}
	pos := s.user.PosAt(st.at)
	return Change{Text: fmt.Sprintf("`%s` becomes `%s`", was, firstOf(st.replace)),
		Span: source.Span{Start: pos, End: pos}}
}

// firstOf is the first line of a statement, without its semicolon.
func firstOf(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(strings.TrimSpace(text), ";")
}

// changeOf describes a statement that is inserted.
func (s *sourceFixer) changeOf(st step) Change {
	text, at, where := st.replace, st.split, "within"
	if st.insert != nil {
		text, at = st.insert.Text, st.insert.At
		if off, _, ok := s.unit.Spot(st.fn, *st.insert); ok {
			at = off
		}
		if where = "before"; st.insert.After {
			where, at = "after", max(at-1, 0)
		}
	}
	what, _, _ := strings.Cut(text, "\n")
	what = "`" + strings.TrimSuffix(strings.TrimSpace(what), ";") + "`"
	pos := s.user.PosAt(at)
	return Change{Text: fmt.Sprintf("%s %s line %d", what, where, pos.Line()),
		Span: source.Span{Start: pos, End: pos}}
}
