package isa

import (
	"iter"
	"slices"
	"strings"
)

// families are the parts of the table, by the chapters of the ISA text.
var families = [][]Row{
	integerRows, floatRows, compareRows, logicRows, moveRows, memoryRows, addressRows, asyncRows,
	textureRows, controlRows, syncRows, warpRows, mbarrierRows, matrixRows, wgmmaRows, stackRows,
	videoRows, miscRows,
}

// entry holds the rows that start with one word.
type entry struct {
	row  *Row      // the word alone; nil if it is no instruction
	long []longRow // rows of several words, those with more words first
	ifs  []*Row    // rows chosen by a modifier anywhere
}

type longRow struct {
	rest []string // the words after the first
	row  *Row
}

// table maps first words to rows.
var table = makeTable()

// makeTable indexes the rows by their first word and completes them. Rows of several words are
// tried from the longest to the shortest, so that cp.async.bulk.commit_group is not taken for
// cp.async.
func makeTable() map[string]*entry {
	t := make(map[string]*entry, 256)
	for r := range rows(families) {
		r.complete()
		for i := range r.forms {
			r.vocab.union(&r.forms[i])
		}
		words := strings.Split(r.Opcode, ".")
		e := t[words[0]]
		if e == nil {
			e = new(entry)
			t[words[0]] = e
		}
		switch {
		case r.If != nil:
			e.ifs = append(e.ifs, r)
		case len(words) == 1:
			e.row = r
		default:
			e.long = append(e.long, longRow{words[1:], r})
		}
	}
	for _, e := range t {
		slices.SortStableFunc(e.long, func(a, b longRow) int { return len(b.rest) - len(a.rest) })
	}
	return t
}

// rows iterates over the rows of families in order, by pointer, since makeTable completes them in
// place.
func rows(families [][]Row) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for _, f := range families {
			for i := range f {
				if !yield(&f[i]) {
					return
				}
			}
		}
	}
}

// Lookup returns the row of an instruction, or nil if the ISA has no such opcode. mods decide where
// the opcode is of several words: bar.warp.sync is not bar.
func Lookup(opcode string, mods []string) *Row {
	r, _ := lookup(opcode, mods)
	return r
}

// lookup also returns how many of the modifiers belong to the row's opcode.
func lookup(opcode string, mods []string) (*Row, int) {
	e := table[opcode]
	if e == nil {
		return nil, 0
	}
	for i := range e.long {
		if l := &e.long[i]; hasPrefix(mods, l.rest) {
			return l.row, len(l.rest)
		}
	}
	for _, r := range e.ifs {
		for _, m := range mods {
			if slices.Contains(r.If, m) {
				return r, 0
			}
		}
	}
	return e.row, 0
}

// hasPrefix reports whether the words s begin with the words prefix.
func hasPrefix(s, prefix []string) bool {
	return len(s) >= len(prefix) && slices.Equal(s[:len(prefix)], prefix)
}

// Rows returns all rows, in the order of the ISA text's chapters.
func Rows() iter.Seq[*Row] { return rows(families) }
