package run

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
)

// waitsForGrids reports whether a kernel waits for the grids before it (PTX ISA 9.7.13.13). Then it
// is taken to be launched so that they may still run.
func waitsForGrids(k *ir.Func) bool {
	return ir.MayExecute(k, func(in *ir.Instr) bool {
		return in.Action() == isa.ActGridDependency && in.Fn == isa.FnWait
	})
}

// Triggers reports whether a kernel lets the next grid begin before it has ended.
func Triggers(k *ir.Func) bool {
	return ir.MayExecute(k, func(in *ir.Instr) bool {
		return in.Action() == isa.ActGridDependency && in.Fn != isa.FnWait
	})
}

// mapUse adds the finding about a copy by a tensor map that a launch before has changed.
func (r *Run) mapUse(u *race.MapUse, seed uint64) {
	r.add(Key{diag.CodeRaceProxy, u.Site, u.Site}, nil, func() diag.Diagnostic {
		s := emu.Stop{Site: u.Site, Thread: u.Thread}
		s.Block, s.Index = r.Config.Geometry.Index(u.Thread)
		by := "an earlier launch"
		if k := r.Machine.MapChangedBy(u.Addr); k != "" {
			by = "an earlier launch of " + k
		}
		s.Message = fmt.Sprintf("%s uses the tensor map at %#x, which %s has changed, and no "+
			"fence.proxy.tensormap::generic.acquire of it by a thread of the block comes before",
			driver.OpText(r.Machine.Site(u.Site).Instr), u.Addr, by)
		d := r.errorFinding(diag.CodeRaceProxy, &s, 1, seed)
		d.Notes = append(d.Notes, "the end of a launch does not order changes of a map before copies "+
			"that read it through the proxy of tensor maps: each block that uses it acquires it first, at "+
			"scope .gpu or .sys (PTX ISA 9.7.13.4; CUDA C++ Programming Guide, \"Using TMA to transfer "+
			"multi-dimensional arrays\")")
		return d
	})
}

// early adds the warning about an access in front of the wait for the grids before.
func (r *Run) early(e *race.GridAccess, seed uint64) {
	r.add(Key{diag.CodeEarlyAccess, e.Site, e.Site}, nil, func() diag.Diagnostic {
		s := emu.Stop{Site: e.Site, Thread: e.Thread}
		s.Block, s.Index = r.Config.Geometry.Index(e.Thread)
		what, hazard := "reads", "a grid before this one that writes it may not have done so yet"
		if e.Write {
			what, hazard = "writes", "a grid before this one may still read or write it"
		}
		if b := r.before; b != nil {
			hazard = fmt.Sprintf("%s, which writes it, may not have done so yet", b.What)
			if e.Write {
				hazard = b.What + " may still read or write it"
			}
		}
		s.Message = fmt.Sprintf("%s %s global memory, and no griddepcontrol.wait comes before it: %s",
			driver.OpText(r.Machine.Site(e.Site).Instr), what, hazard)
		d := r.errorFinding(diag.CodeEarlyAccess, &s, 1, seed)
		if b := r.before; b != nil {
			d.Notes = append(d.Notes, fmt.Sprintf("%s%s executes griddepcontrol.launch_dependents, and this "+
				"launch has the attribute programmaticStreamSerialization: it may begin before that one has "+
				"ended", b.What, b.Place))
			return d
		}
		d.Severity = diag.Warning
		d.Notes = append(d.Notes, "this is only a warning: heddle does not know what the grids before "+
			"access; what they do not touch, such as weights, may be accessed early")
		return d
	})
}
