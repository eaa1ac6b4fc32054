package mutate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// The environment of a test binary with mutants.
const (
	ActiveEnv  = "HEDDLE_MUTANT"          // the number of the active mutant; none if unset or 0
	ReachedEnv = "HEDDLE_MUTANTS_REACHED" // a file to which each number that is reached is appended
)

// Rewrite returns the text of a file with each of the mutants, which Find returned for this text,
// as an alternative. The numbers are those by which ActiveEnv selects them.
func Rewrite(text []byte, mutants map[int]*Mutant) []byte {
	r := rewriter{text: text}
	for n, m := range mutants {
		r.sites = append(r.sites, site{n, m})
	}
	slices.SortFunc(r.sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(b.end, a.end),
			cmp.Compare(a.number, b.number))
	})
	return []byte(r.between(0, len(text), 0))
}

// A site is a mutant with its number.
type site struct {
	number int
	*Mutant
}

// A rewriter holds a file and its mutants, those outside before those within them.
type rewriter struct {
	text  []byte
	sites []site
}

// between returns the text from one offset to another with the mutants within it. Those before
// sites[next] are left out: they are outside, or the caller has them in hand.
func (r *rewriter) between(from, to, next int) string {
	var b bytes.Buffer
	for next < len(r.sites) && r.sites[next].pos < to {
		s := r.sites[next]
		if s.pos < from || s.end > to {
			next++
			continue
		}
		last := next + 1 // behind the mutants of the same condition
		for last < len(r.sites) && r.sites[last].pos == s.pos && r.sites[last].end == s.end {
			last++
		}
		b.Write(r.text[from:s.pos])
		b.WriteString(r.alternatives(next, last))
		from, next = s.end, last
	}
	b.Write(r.text[from:to])
	return b.String()
}

// alternatives returns the condition of sites[first:last] as an expression that chooses between it
// and its mutants. Mutants within it are in both alternatives, of which only one is evaluated.
func (r *rewriter) alternatives(first, last int) string {
	s := r.sites[first]
	out := "(" + r.between(s.pos, s.end, last) + ")"
	for _, s := range r.sites[first:last] {
		if s.op < 0 {
			out = fmt.Sprintf("(mutantIs(%d) != %s)", s.number, out)
			continue
		}
		mutated := r.between(s.pos, s.op, last) + s.new + r.between(s.op+len(s.old), s.end, last)
		out = fmt.Sprintf("(mutantIs(%[1]d) && (%[2]s) || !mutantIs(%[1]d) && %[3]s)", s.number,
			mutated, out)
	}
	return out
}

// Support returns a file for the package of this name, which every package with a rewritten file
// needs. The numbers of its mutants are from 1 to most.
func Support(pkg string, most int) []byte {
	return fmt.Appendf(nil, support, pkg, ActiveEnv, ReachedEnv, most+1)
}

// support declares mutantIs, which a rewritten condition calls. It does not allocate, except when a
// mutant is reached for the first time in a run that records them.
const support = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantActive, _ = strconv.Atoi(os.Getenv(%q))
	mutantsFile     = os.Getenv(%q)
	mutantsReached  [%d]atomic.Bool
)

func mutantIs(n int) bool {
	return n == mutantActive || mutantsFile != "" && mutantReached(n)
}

func mutantReached(n int) bool {
	if mutantsReached[n].Swap(true) {
		return false
	}
	f, err := os.OpenFile(mutantsFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(strconv.Itoa(n) + "\n"); err != nil {
		panic(err)
	}
	f.Close()
	return false
}
`
