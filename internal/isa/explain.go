package isa

import "fmt"

// explain returns the error for modifiers that match no form of the row. It compares them with the
// form that they resemble most, by the weights of the disagreements, and reports the first one.
func (d *decoder) explain(mods []string) error {
	best, least := 0, 1<<30
	for i := range d.Row.forms {
		n := 0
		for _, m := range d.misfits(&d.Row.forms[i]) {
			n += m.weight()
		}
		if n < least {
			best, least = i, n
		}
	}
	first := d.misfits(&d.Row.forms[best])[0]
	if first.missing {
		return d.errorf("", "%s is missing", first.what)
	}
	for _, m := range mods {
		for i := range words[m] {
			if w := &words[m][i]; d.Row.vocab.knows(w) && first.is(w) {
				return d.errorf(m, "%s does not go with the other modifiers", first.what)
			}
		}
	}
	return d.errorf("", "no such form: %s does not go with the other modifiers", first.what)
}

// misfit is one disagreement of an instruction with a form.
type misfit struct {
	what    string
	missing bool // the form needs something that was not written
	kind    kind
	val     uint8
	flag    Flag
	mark    mark
}

// weight says how unlikely it is that m is the mistake: something is forgotten more easily than a
// type is wrong.
func (m *misfit) weight() int {
	switch {
	case m.missing:
		return 1
	case m.kind == kType:
		return 4
	case m.kind == kFlag:
		return 3
	}
	return 2
}

// is reports whether w is what m is about.
func (m *misfit) is(w *word) bool {
	return m.kind == w.kind && m.val == w.val && (m.kind != kFlag || m.flag&w.flag != 0) &&
		(m.kind != kMark || m.mark&w.mark != 0)
}

// misfits lists the fields in which the instruction and form f disagree, in the order in which a
// reader would check them. An instruction that matches has none.
func (d *decoder) misfits(f *form) []misfit {
	var out []misfit
	for _, c := range [...]struct {
		what    string
		allowed set
		kind    kind
		val     uint8
	}{
		{"the type", f.types, kType, uint8(d.Type)},
		{"the second type", f.stypes, kType, uint8(d.SType)},
		{"the third type", f.third, kType, uint8(d.third)},
		{"the operation", f.fns, kFn, uint8(d.Fn)},
		{"the comparison", f.cmps, kCmp, uint8(d.Cmp)},
		{"the rounding", f.rounds, kRound, uint8(d.Round)},
		{"the vector size", f.vecs, kVec, d.vec},
		{"the state space", f.spaces, kSpace, uint8(d.Space)},
		{"the memory order", f.orders, kOrder, d.order},
		{"the scope", f.scopes, kScope, uint8(d.Scope)},
	} {
		if !c.allowed.has(c.val) {
			out = append(out, misfit{what: c.what, missing: c.val == 0, kind: c.kind, val: c.val})
		}
	}
	if extra := d.Flags &^ (f.flags | f.must); extra != 0 {
		out = append(out, misfit{what: "it", kind: kFlag, flag: extra})
	}
	if missing := f.must &^ d.Flags; missing != 0 {
		out = append(out, misfit{what: fmt.Sprintf("modifier .%s", missing), missing: true})
	}
	if extra := d.marks &^ (f.marks | f.mustMarks); extra != 0 {
		out = append(out, misfit{what: "it", kind: kMark, mark: extra})
	}
	if missing := f.mustMarks &^ d.marks; missing != 0 {
		out = append(out, misfit{what: "a modifier", missing: true})
	}
	return out
}
