package fix

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"heddle/internal/repair/between"
	"heddle/internal/syntax"
)

// divided returns candidates in which the kernel is divided: between two statements of its body, so
// that each race has its accesses on both sides, or at the barriers of the grid of another
// candidate.
func (x *kernelFix) divided(ctx context.Context, cur *currentFile) ([]*between.Candidate, error) {
	var out []*between.Candidate
	var why error
	if cuts, changes := x.cuts(ctx, cur); len(cuts) > 0 {
		c, err := cur.kernel.Divided(cuts, changes)
		if err == nil {
			out = append(out, c)
		}
		why = err
	}
	if cur.grid == nil {
		cur.grid = x.gridPlaces(ctx, cur)
	}
	for _, g := range cur.grid {
		if g.err != nil {
			why = cmpError(why, g.err)
			continue
		}
		text, header, err := cur.kernel.Synced(g.edits)
		if err != nil {
			why = cmpError(why, err)
			continue
		}
		at, err := x.read(ctx, text)
		if err != nil {
			return nil, err
		}
		if at.why != nil {
			why = cmpError(why, at.why)
			continue
		}
		c, err := at.kernel.Divided(nil, nil)
		if err != nil {
			why = cmpError(why, x.inCurrent(cur, at, err))
			continue
		}
		c.Text = bytes.Replace(c.Text, []byte(header), nil, 1)
		c.Changes = append(slices.Clone(g.changes), between.Change{
			Text: c.Changes[len(c.Changes)-1].Text, At: cur.kernel.Launches[0].Whole.From})
		out = append(out, c)
	}
	switch {
	case len(out) > 0:
		why = nil
	case why == nil:
		why = errors.New("no place divides the accesses")
	}
	return out, why
}

// cmpError is the first error.
func cmpError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// inCurrent moves an error of a changed text to the current file.
func (x *kernelFix) inCurrent(cur, at *currentFile, err error) error {
	var host *syntax.HostError
	if !errors.As(err, &host) {
		return err
	}
	return &syntax.HostError{Pos: equalLine(at.user, cur.user, host.Pos), What: host.What}
}

// cuts chooses places between statements of the body so that each pair of accesses that race has
// one between them; none if two are in one statement.
func (x *kernelFix) cuts(ctx context.Context, cur *currentFile) ([]int, []between.Change) {
	cuts, within := x.apart(ctx, cur)
	if len(within) > 0 {
		return nil, nil
	}
	var changes []between.Change
	for _, at := range cuts {
		changes = append(changes, between.Change{
			Text: "the kernel is divided before `" + firstLine(cur.user.Content[at:]) + "`", At: at,
		})
	}
	return cuts, changes
}

// firstLine is the first line of a statement, without the brace that opens its body.
func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimSuffix(strings.TrimSpace(string(line)), " {")
}

// apart chooses the fewest statements of the body before which the accesses of pairs that race are
// set apart: by the end of the intervals, which is optimal for intervals on a line. within are the
// pairs of which both are in one statement.
func (x *kernelFix) apart(ctx context.Context, cur *currentFile) (cuts []int, within [][2]int) {
	steps := cur.kernel.Func.Steps(nil)
	index := func(off int) int {
		return slices.IndexFunc(steps, func(st syntax.Step) bool { return st.From <= off && off < st.To })
	}
	var pairs [][2]int
	for _, p := range x.racing(ctx, cur) {
		a, b := index(p[0]), index(p[1])
		if a < 0 || b < 0 || a == b {
			within = append(within, p)
			continue
		}
		pairs = append(pairs, [2]int{min(a, b), max(a, b)})
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return a[1] - b[1] })
	last := -1
	for _, p := range pairs {
		if last <= p[0] {
			last = p[1]
			cuts = append(cuts, steps[last].From)
		}
	}
	return cuts, within
}
