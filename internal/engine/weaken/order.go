package weaken

import (
	"context"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/event"
)

// The order of an atomic operation becomes relaxed: cuda::memory_order_seq_cst (the default),
// acq_rel, acquire and release of cuda::atomic and cuda::atomic_ref, and memory_order_* of OpenCL
// C. An order is a fence next to the operation, as far as other threads can tell (PTX ISA 8.8), so
// that the rule is that of fence.go: the kernel is quiet, or alone, with the order relaxed. The
// operation stays atomic, so that no update is lost. In a quiet kernel this is for reductions,
// whose results no thread uses; in one that is alone also for the one counter.
//
// What it misses: operations whose order has no effect on the locations that matter, in a kernel in
// which the order of other strong accesses does matter; operators such as ++ and +=, which have no
// place for an order; loads and stores; and the halves of acq_rel, of which one may suffice.

// methods are the operations of cuda::atomic and cuda::atomic_ref whose last argument is an order,
// with the number of their other arguments.
var methods = map[string]int{"fetch_add": 1, "fetch_sub": 1, "fetch_and": 1, "fetch_or": 1,
	"fetch_xor": 1, "fetch_min": 1, "fetch_max": 1}

// openCL are the functions of OpenCL C that are followed by _explicit where they have an order.
var openCL = map[string]int{"atomic_fetch_add": 2, "atomic_fetch_sub": 2, "atomic_fetch_and": 2,
	"atomic_fetch_or": 2, "atomic_fetch_xor": 2, "atomic_fetch_min": 2, "atomic_fetch_max": 2}

// orderRanks are the orders that may be relaxed.
var orderRanks = map[string]float64{"seq_cst": rankSeqCst, "acq_rel": rankAcqRel,
	"acquire": rankHalf, "release": rankHalf, "consume": rankHalf}

// written is the order of a call in the source.
type written struct {
	before, after string // the order, or the name of the function
	edits         []edit.Edit
	rank          float64
}

// order offers a relaxed order for an operation.
func (w *weakener) order(ctx context.Context, s *site) ([]*option, string, error) {
	how, ok := w.orderOf(s)
	if !ok {
		return nil, "", nil
	}
	if how.rank == 0 {
		return nil, "its order is relaxed already, or not a constant", nil
	}
	l, why, err := w.best(ctx, s, quiet, alone)
	if why != "" || err != nil {
		return nil, why, err
	}
	o := &option{
		site: s, kind: Order, before: how.before, after: how.after, need: l, edits: how.edits,
		gain: how.rank, why: levelText(l),
	}
	switch widest(s) {
	case event.Sys:
		if why := w.beyondDevice(s, l); why != "" {
			return nil, why, nil
		}
		fallthrough
	case event.GPU:
		if why := w.beyondKernel(s, l); why != "" {
			return nil, why, nil
		}
		o.assuming = assumingDevice
	}
	return []*option{o}, "", nil
}

// orderOf reads the order of a call; false if it is no call with one. The rank is 0 if it cannot be
// relaxed.
func (w *weakener) orderOf(s *site) (written, bool) {
	text := w.user.Content
	if n, ok := methods[s.name]; ok && !w.base.in.OpenCL() && s.offset > 0 &&
		(text[s.offset-1] == '.' || text[s.offset-1] == '>') {
		if len(s.args) == n { // the default
			return written{s.name + " (seq_cst)", s.name + " (relaxed)",
				[]edit.Edit{w.replace(s.end-1, s.end-1, ", cuda::memory_order_relaxed")}, rankSeqCst}, true
		}
		return w.named(s, n), true
	}
	base := strings.TrimSuffix(s.name, "_explicit")
	n, ok := openCL[base]
	switch {
	case !ok || !w.base.in.OpenCL():
		return written{}, false
	case base != s.name:
		return w.named(s, n), true
	case len(s.args) != n:
		return written{}, true
	}
	return written{s.name + " (seq_cst)", s.name + "_explicit (relaxed)", []edit.Edit{
		w.replace(s.offset+len(s.name), s.offset+len(s.name), "_explicit"),
		w.replace(s.end-1, s.end-1, ", memory_order_relaxed"),
	}, rankSeqCst}, true
}

// named reads the order that argument n names, as in cuda::std::memory_order_acq_rel.
func (w *weakener) named(s *site, n int) written {
	if len(s.args) <= n {
		return written{}
	}
	a := s.args[n]
	i := strings.LastIndex(a.text, "memory_order_")
	if i < 0 {
		return written{}
	}
	from := a.from + i + len("memory_order_")
	word := string(w.user.Content[from:a.to])
	return written{s.name + " (" + word + ")", s.name + " (relaxed)",
		[]edit.Edit{w.replace(from, a.to, "relaxed")}, orderRanks[word]}
}

// widest is the widest scope of the instructions of a site.
func widest(s *site) event.Scope {
	out := event.NoScope
	for _, list := range s.in {
		for _, in := range list {
			out = max(out, in.Scope)
		}
	}
	return out
}
