package run

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/race"
)

// The text of findings about the shared memory of other blocks of a cluster.

// lifetime reports an access to the memory of a block that may not have started or may have ended.
func (r *Run) lifetime(e *race.LifetimeError, seed uint64) {
	code := diag.CodePeerNotStarted
	if e.Kind == race.MayHaveEnded {
		code = diag.CodePeerExited
	}
	r.add(Key{code, e.Site, e.Site}, nil, func() diag.Diagnostic {
		s := emu.Stop{Site: e.Site, Thread: e.Thread}
		g := r.Config.Geometry
		s.Block, s.Index = g.Index(e.Thread)
		op := driver.OpText(r.Machine.Site(e.Site).Instr)
		block := fmt.Sprintf("block %v", g.BlockIndex(e.Block).In(g.Grid))
		what := "accesses"
		if e.Agent {
			what = "is an asynchronous operation on"
		}
		s.Message = fmt.Sprintf("%s %s the shared memory of %s, which may not have started", op, what,
			block)
		note := "nothing that the block has done comes before it; the blocks of a cluster run at the " +
			"same time, but do not start at the same time: barrier.cluster.arrive and .wait in front of " +
			"the first access order it (CUDA C++ Programming Guide, \"Distributed Shared Memory\")"
		if e.Kind == race.MayHaveEnded {
			s.Message = fmt.Sprintf("%s %s the shared memory of %s, all threads of which may have ended",
				op, what, block)
			note = "no thread of the block waits for it before it ends; a barrier.cluster.arrive behind " +
				"the last access and a barrier.cluster.wait by the block, also relaxed ones, keep it alive " +
				"(CUDA C++ Programming Guide, \"Distributed Shared Memory\")"
		}
		d := r.errorFinding(code, &s, e.Count, seed)
		d.Notes = append(d.Notes, note)
		return d
	})
}
