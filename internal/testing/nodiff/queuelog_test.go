package nodiff

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
)

// recorded is a sink that counts what each thread does, operation by operation.
type recorded struct {
	event.Discard
	values bool // with what stores write
	of     map[string]int
}

// each counts an operation of each lane.
func (r *recorded) each(w event.Warp, mask uint32, text func(l int) string) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r.of[fmt.Sprintf("thread %d: %s", event.ThreadOf(w, l), text(l))]++
	}
}

func (r *recorded) Access(e *event.Access) {
	r.each(e.Warp, e.Mask, func(l int) string {
		s := fmt.Sprintf("site %d, %v %v %v.%v %v of %d bytes in %d at %#x, stored %v", e.Site, e.Kind,
			e.Space, e.Order, e.Scope, e.Proxy, e.Size, e.Elements(), e.Addr[l], e.Stored>>l&1 != 0)
		if r.values && e.Data != nil {
			for k := 0; k < int(e.Size+7)/8; k++ {
				s += fmt.Sprintf(" %#x", e.Data[k][l])
			}
		}
		return s
	})
}

func (r *recorded) Copy(e *event.Copy) {
	r.each(e.Warp, e.Mask, func(l int) string {
		return fmt.Sprintf("site %d, copies %d of %d bytes from %#x to %#x", e.Site, e.Read[l], e.Size,
			e.From[l], e.To[l])
	})
}

func (r *recorded) CopyGroup(e *event.CopyGroup) {
	r.each(e.Warp, e.Mask, func(int) string {
		return fmt.Sprintf("site %d, commit %v, wait %v for %d", e.Site, e.Commit, e.Wait, e.Pending)
	})
}

func (r *recorded) Fence(e *event.Fence) {
	r.each(e.Warp, e.Mask, func(int) string {
		return fmt.Sprintf("site %d, fence %v.%v %v", e.Site, e.Order, e.Scope, e.Orders)
	})
}

func (r *recorded) Arrive(e *event.Arrive) {
	r.each(e.Warp, e.Mask, func(int) string {
		return fmt.Sprintf("site %d, arrives at %d of %d threads, %d %v %v %v", e.Site, e.Barrier,
			e.Count, e.Op, e.Red, e.Aligned, e.Orders)
	})
}

func (r *recorded) WarpSync(e *event.WarpSync) {
	r.each(e.Warp, e.Mask, func(int) string { return fmt.Sprintf("warp barrier of %#x", e.Mask) })
}

func (r *recorded) Complete(e *event.Complete) {
	r.of[fmt.Sprintf("block %d: barrier %d, exited %v", e.Block, e.Barrier, e.Exited)]++
}

func (r *recorded) Exit(e *event.Exit) {
	r.each(e.Warp, e.Mask, func(int) string { return "exit" })
}

// sameLog runs the instrumented kernel once, and compares the operations of each thread in its log
// with those of its events.
func (w *watched) sameLog(seed, steps uint64) {
	values := w.result.Options.Values
	a := &recorded{values: values, of: make(map[string]int)}
	b := &recorded{values: values, of: make(map[string]int)}
	sum, res := w.logged(seed, steps, a, b)
	if !sum.Complete() {
		return
	}
	shown := 0
	for op, n := range b.of {
		if m := a.of[op]; m != n && shown < 10 {
			w.t.Errorf("seed %d: %s: %d in the log, %d events", seed, op, m, n)
			shown++
		}
	}
	if len(res.Faults) > 0 || res.Stop != nil {
		return // an invalid access is logged, and is no event
	}
	for op, n := range a.of {
		if b.of[op] == 0 && shown < 10 {
			w.t.Errorf("seed %d: %s: %d in the log, no event", seed, op, n)
			shown++
		}
	}
}
