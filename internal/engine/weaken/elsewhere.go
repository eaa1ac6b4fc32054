package weaken

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
)

// What prevents every offer at a site, whatever it is: code that executes it and is not proved, and
// launches that are not known.

// elsewhere returns why a site may be executed in a way that is not examined; empty if it is not.
func (w *weakener) elsewhere(s *site) string {
	if s.called {
		return "it is in a function that is also called without being inlined"
	}
	req := w.opt.Common.Launch
	flags := req.Grid != nil || req.Block != nil || req.Global != nil || len(req.Args) > 0
	for k := range s.in {
		if !k.selected && flags {
			return fmt.Sprintf("%s executes it as well, for which the flags of the launch are not meant",
				k.fn.Demangled)
		}
		if w.base.in.OpenCL() {
			continue // its host code is elsewhere
		}
		if at := launch.Unfollowed(k.fn, w.user, w.base.in.Facts); at.IsValid() {
			return fmt.Sprintf("line %d uses the kernel in a way that may launch it, which heddle does not "+
				"follow", at.Line())
		}
	}
	return ""
}

// converses reports whether a kernel accesses global memory in a way in which threads talk to code
// outside the kernel: it polls or announces by strong loads and stores, or, with results, uses the
// results of atomic operations.
func converses(f *ir.Func, results bool) bool {
	used := registersRead(f)
	return f.Contains(func(in *ir.Instr) bool {
		switch {
		case !isStrong(in) || in.Space == event.Shared:
			return false
		case isUpdate(in):
			return results && isUsed(in, used)
		}
		return in.Action() == isa.ActLoad || in.Action() == isa.ActStore
	})
}
