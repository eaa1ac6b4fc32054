package weaken

import (
	"context"
	"fmt"
	"slices"

	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/launch"
	"heddle/internal/verify"
)

// A barrier of the block (bar.sync 0, PTX ISA 9.7.13.1) is removed, or replaced by a barrier of the
// warp (bar.warp.sync with all lanes, 9.7.13.2), if the kernel is quiet with the change. That is
// proved of the complete changed kernel: that lanes of a warp reach the barrier together, and that
// whatever the barrier of the block ordered between warps, in shared or global memory, is ordered
// by other barriers or does not conflict. Lanes that have exited, and those that a last warp of
// fewer than 32 threads lacks, are not waited for.
//
// A barrier may decide what strong accesses read without a race, such as which phase of a kernel
// takes the first tickets. In a quiet kernel it decides nothing: each value follows from the order
// of accesses that conflict, and that order is proved. The proof of the changed kernel at this
// level takes every strong access to be weak that is no reduction. In all other kernels no barrier
// is touched.
//
// A barrier of the block also keeps the speed of warps equal, and a warp may run ahead without it.
// Only accesses to memory are affected by that, so that the proof covers it. The proof is for the
// sizes of blocks that the host code launches: which threads share a warp depends on them.
//
// The rule misses barriers in kernels with tickets or other results of atomic operations.

// barrier offers what may take the place of __syncthreads().
func (w *weakener) barrier(ctx context.Context, s *site) ([]*option, string, error) {
	_, why, err := w.best(ctx, s, exact)
	if why != "" || err != nil {
		return nil, why, err
	}
	if why := s.beyondBarrier(exact); why != "" {
		return nil, why, nil
	}
	end, free, ok := s.statement(w.user.Content)
	if !ok {
		return nil, "it is not a statement of its own", nil
	}
	removed := &option{
		site: s, kind: Barrier, before: "__syncthreads()", need: exact, gain: rankBarrier,
		edits: []edit.Edit{w.remove(s, end, free)},
		why:   []string{"other barriers order every pair of accesses that conflicts"},
	}
	warp := &option{
		site: s, kind: Barrier, before: "__syncthreads()", after: "__syncwarp()", need: exact,
		gain:  rankBarrier - rankWarp,
		edits: []edit.Edit{w.replace(s.offset, s.offset+len(s.name), "__syncwarp")},
	}
	out := []*option{removed, warp}
	if p, ok := w.partOf(s, end, free); ok {
		out = append(out, p)
	}
	return out, "", nil
}

// separates lists the pairs of lines that race in a text without a barrier, for the reason of an
// offer that keeps part of it.
func (w *weakener) separates(ctx context.Context, text []byte, name string) ([]string, error) {
	c := w.compile(ctx, text)
	if c == nil || c.in.IR.Kernel(name) == nil {
		return nil, ctx.Err()
	}
	k := c.in.IR.Kernel(name)
	configs, why := w.launches(c, k)
	if why != "" {
		return nil, nil
	}
	defer soften(k, exact).restore()
	p, err := w.prover(mode{anyGrid: configs[0].Origins["grid"].Guessed()})
	if err != nil {
		return nil, err
	}
	pr := p.Proof(c.d.Job(c.in, k), configs[0])
	from := launch.FromProgram
	if w.kernels[name].levels[exact].given {
		from = launch.FromHost
	}
	pr.Exists, pr.OneBlock, pr.Fixed, pr.Steps = true, true, pr.Scalars(from), proofSteps
	r, _ := pr.Verify(ctx, 0)
	if r == nil {
		return nil, ctx.Err()
	}
	return pairsText(r), nil
}

// pairsText prints the lines of races, each pair once.
func pairsText(r *verify.Result) []string {
	var out []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind != verify.Race || f.A == nil || f.B == nil {
			continue
		}
		a, b := driver.Place(f.A).Start.Line(), driver.Place(f.B).Start.Line()
		text := fmt.Sprintf("lines %d and %d", min(a, b), max(a, b))
		if a == b {
			text = fmt.Sprintf("line %d", a)
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) > mostPairs {
		out = append(out[:mostPairs], fmt.Sprintf("%d other pairs", len(out)-mostPairs))
	}
	return out
}

// mostPairs is how many pairs the reason of an offer lists.
const mostPairs = 3
