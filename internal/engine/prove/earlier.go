package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/verify"
)

// Earlier has what was asked about one kernel, for all its launches: a proof for all values of the
// arguments that differ between two launches is a proof for both. The zero value is empty. It must
// not be used by two proofs at a time.
type Earlier struct {
	answers map[string]answer
}

// answer is what Verify returned.
type answer struct {
	result  *verify.Result
	verdict diag.Verdict
}

// get returns the answer to a question; false if it is not known. The empty key has none.
func (e *Earlier) get(key string) (answer, bool) {
	if e == nil || key == "" {
		return answer{}, false
	}
	a, ok := e.answers[key]
	return a, ok
}

// put keeps the answer to a question, which must not have been ended by time.
func (e *Earlier) put(key string, r *verify.Result, v diag.Verdict) {
	if e == nil || key == "" {
		return
	}
	if e.answers == nil {
		e.answers = make(map[string]answer)
	}
	e.answers[key] = answer{r, v}
}

// key is a text that is equal for two questions about the kernel if their answers are: it has all
// that Verify reads of the launch. It is empty where the launch says more than that: with
// conditions of the user or of host code, and with the sizes of buffers. The limit of steps is no
// part of it: a question that an earlier launch left undecided is not asked again with more.
func (p *Proof) key(limit int) string {
	if p.earlier == nil || p.tied != nil || p.opt.Bounds || len(p.opt.Assume) > 0 ||
		len(p.opt.Axioms) > 0 || p.Config.Saved != "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprint(&b, p.Config.Geometry, " ", p.Config.DynShared, p.Config.Origins["shared"].Guessed(),
		" ", limit, p.whether, p.lockstep(), p.bare, p.Config.Cooperative,
		slices.Sorted(maps.Keys(p.Config.Again)))
	for _, i := range slices.Sorted(maps.Keys(p.Fixed)) {
		fmt.Fprintf(&b, "; %d = %x", i, p.Fixed[i])
	}
	for i := range p.Config.Args {
		a := &p.Config.Args[i]
		if a.Local != nil {
			fmt.Fprint(&b, "; ", i, " has ", *a.Local, p.Config.Origins["arg "+a.Name].Guessed())
		}
		if p.filled(a) {
			fmt.Fprint(&b, "; ", i, " is not 0")
		}
	}
	number := make(map[*launch.Buffer]int)
	p.eachPointer(func(t target) {
		n, ok := number[t.buffer]
		if !ok {
			n = len(number)
			number[t.buffer] = n
		}
		fmt.Fprintf(&b, "; %s+%d to %d+%d", t.ptr.Param.Name, t.ptr.Field, n, t.at)
	})
	return b.String()
}

// common returns those of the given scalars that have the same values in all launches of the kernel
// with the shape of this one; nil if that is all of them, or if there is no other launch.
func (p *Proof) common(given map[int]uint64) map[int]uint64 {
	if p.tied != nil || p.Job.Options().Warp == event.Lockstep {
		return nil
	}
	out := maps.Clone(given)
	for _, c := range p.Job.Launches() {
		if c.Geometry != p.Config.Geometry {
			continue
		}
		other := &Proof{Job: p.Job, Config: c}
		scalars := other.Scalars(launch.FromHost)
		maps.DeleteFunc(out, func(i int, bits uint64) bool {
			v, ok := scalars[i]
			return !ok || v != bits
		})
	}
	if len(out) == len(given) {
		return nil
	}
	return out
}
