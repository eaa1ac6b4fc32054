package isa

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"heddle/internal/event"
)

// Spellings returns the modifiers of instructions of the opcode: for each form of the ISA text one
// with what comes first wherever there is a choice, and one for each other choice of one kind. It
// is for tests that walk the table. Modifiers that are part of the opcode are included. A row whose
// forms the table does not have has one spelling, its opcode.
func (r *Row) Spellings() [][]string {
	base := strings.Split(r.Opcode, ".")[1:]
	if r.If != nil {
		base = r.If[:1]
	}
	if r.forms == nil {
		return [][]string{base}
	}
	var out [][]string
	seen := make(map[string]bool)
	for i := range r.forms {
		if r.Cluster() && !r.forms[i].spaces.has(uint8(event.Shared)) {
			continue // a form of other memory
		}
		for _, mods := range r.spell(&r.forms[i]) {
			own := slices.ContainsFunc(mods, func(m string) bool { return slices.Contains(r.If, m) })
			mods = append(slices.Clone(base), mods...)
			if r.If != nil { // the space is among the words of the form
				mods = slices.DeleteFunc(mods, func(m string) bool { return m == "shared" })
			}
			if own { // a word of the form chooses the row
				mods = mods[len(base):]
			}
			if text := strings.Join(mods, "."); !seen[text] {
				seen[text] = true
				out = append(out, mods)
			}
		}
	}
	return out
}

// choice is a word that a form may have, or none.
type choice []string

// spell lists modifiers of one form.
func (r *Row) spell(f *form) [][]string {
	var dims [][]choice
	for _, k := range [...]struct {
		kind kind
		set  set
	}{
		{kFn, f.fns}, {kCmp, f.cmps}, {kRound, f.rounds}, {kOrder, f.orders}, {kScope, f.scopes},
		{kSpace, f.spaces}, {kVec, f.vecs}, {kType, f.types}, {kType, f.stypes}, {kType, f.third},
	} {
		if c := r.choices(k.kind, k.set); len(c) > 0 {
			dims = append(dims, c)
		}
	}
	var fixed []string
	for fl := f.must; fl != 0; fl &= fl - 1 {
		fixed = append(fixed, r.wordFor(word{kind: kFlag, flag: fl & -fl}))
	}
	for mk := f.mustMarks &^ sources; mk != 0; mk &= mk - 1 {
		fixed = append(fixed, r.wordFor(word{kind: kMark, mark: mk & -mk}))
	}
	for fl := f.flags; fl != 0; fl &= fl - 1 {
		dims = append(dims, []choice{nil, {r.wordFor(word{kind: kFlag, flag: fl & -fl})}})
	}
	out := vary(fixed, dims)
	for i := range out { // the source is written behind the destination
		switch f.mustMarks & sources {
		case markFromGlobal:
			out[i] = append(out[i], event.Global.String())
		case markFromShared:
			out[i] = append(out[i], "shared::cta")
		}
	}
	return out
}

// sources are the marks for the second space of a copy. Their words mean the first space where none
// is written before.
const sources = markFromGlobal | markFromShared

// vary returns the first choice of each dimension, and then each other choice of one dimension.
func vary(fixed []string, dims [][]choice) [][]string {
	pick := func(at, n int) []string {
		out := slices.Clone(fixed)
		for i, d := range dims {
			c := d[0]
			if i == at {
				c = d[n]
			}
			out = append(out, c...)
		}
		return out
	}
	out := [][]string{pick(-1, 0)}
	for i, d := range dims {
		for n := 1; n < len(d); n++ {
			out = append(out, pick(i, n))
		}
	}
	return out
}

// choices are the words of a set. If the modifier may be omitted, that is the first choice.
func (r *Row) choices(k kind, s set) []choice {
	var out []choice
	for v := uint8(0); s>>v != 0; v++ {
		switch {
		case s>>v&1 == 0:
		case v == 0:
			out = append(out, nil)
		case k == kSpace && r.Cluster() && event.Space(v) != event.Shared:
		default:
			out = append(out, choice{r.wordFor(word{kind: k, val: v})})
		}
	}
	if r.Cluster() && k == kSpace {
		return nil
	}
	return out
}

// shortest are the words of all opcodes, short ones first.
var shortest = sync.OnceValue(func() []string {
	return slices.SortedFunc(maps.Keys(words), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
})

// wordFor returns the shortest word that the opcode reads as w; of equally long ones the first.
func (r *Row) wordFor(w word) string {
	for _, n := range shortest() {
		for i := range words[n] {
			if m := &words[n][i]; r.vocab.knows(m) {
				if *m == w {
					return n
				}
				break
			}
		}
	}
	return "?"
}
