package instrument

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// What says which event the records of a site stand for.
type What uint8

// The kinds of sites.
const (
	// Nothing: what no other thread can observe, logged with Options.Private only.
	Nothing What = iota
	Access       // ld, st, atom, red
	Fence
	Arrive    // bar, barrier
	WarpSync  // bar.warp.sync
	CopyIssue // cp.async
	CopyGroup // cp.async.commit_group and the waits
	Exit      // the end of threads
	Converge  // where paths of a warp part or meet: Options.Lockstep
	Layout    // the address of a shared variable, once in the grid: Var
)

// Site is a static place whose executions are logged. Its number is that of its records.
type Site struct {
	What  What
	Instr *ir.Instr // of the module that was instrumented
	Func  *ir.Func

	Access  isa.Access // of an Access
	Size    int        // bytes of a lane's access
	Elem    int        // bytes of one operation of the memory model, as in event.Access
	Ticket  bool       // a strong access, whose records have tickets
	Words   int        // words of 8 bytes that the device may log as data
	Op      event.BarrierOp
	Red     bool
	Aligned bool
	Commit  bool // of a CopyGroup, as in event.CopyGroup
	Wait    bool
	Pending uint32
	Var     *ir.Var // of a Layout
	Free    bool    // not logged while LogAll is 0

	// By is the site whose records stand for this access: its own, if it has records.
	By int
	// With are the accesses that the records of this site stand for, its own included, in the order of
	// the text. Empty: its own alone.
	With []Member
}

// Member is an access that another one's records stand for: it accesses the address of the record
// plus Offset.
type Member struct {
	Site   int
	Offset int64
}

// refusal says why a function cannot be instrumented.
type refusal struct {
	in   *ir.Instr
	what string
}

// systemFuncs are functions of the GPU's runtime (CUDA C++ Programming Guide, "PTX
// Interoperability" of printf, assert, malloc and free). What they access is theirs.
var systemFuncs = []string{"vprintf", "__assertfail", "malloc", "free"}

// quiet reports whether an instruction needs no record: it neither accesses memory that threads
// share nor orders accesses.
func quiet(a isa.Action) bool {
	switch a {
	case isa.ActCompute, isa.ActNothing, isa.ActBranch, isa.ActIndexedBranch, isa.ActTrap,
		isa.ActConvertAddress, isa.ActTestSpace, isa.ActShuffle, isa.ActVote, isa.ActMatch,
		isa.ActActiveMask, isa.ActWarpReduce, isa.ActElect, isa.ActMatrixMultiply, isa.ActMatrixMove,
		isa.ActGridDependency, isa.ActCachePolicy, isa.ActQueryTexture, isa.ActQuerySurface,
		isa.ActTestOpaque, isa.ActStack:
		return true
	}
	return false
}

// classify returns the site of an instruction. ok is false if it needs no record; why is not empty
// if it cannot be logged.
func classify(f *ir.Func, in *ir.Instr, opt *Options) (s Site, ok bool, why string) {
	s = Site{Instr: in, Func: f}
	switch a := in.Action(); a {
	case isa.ActLoad, isa.ActStore, isa.ActAtomic, isa.ActReduce:
		return s.access(opt)
	case isa.ActFence:
		s.What = Fence
	case isa.ActPartialFence, isa.ActProxyFence:
		// What they order beside mbarriers and bulk copies is not modelled, and kernels with these are
		// refused: without them the fences order nothing.
		u, _ := in.Fence()
		if u.Kind == isa.InitFence || u.Kind == isa.ProxyFence && u.Proxy == isa.AsyncProxy {
			return s, false, ""
		}
		return s, false, in.Text() + " is not logged"
	case isa.ActNumberedBarrier:
		return s.barrier()
	case isa.ActWarpBarrier:
		s.What = WarpSync
	case isa.ActCopy:
		return s.copied()
	case isa.ActCopyGroup:
		return s.group()
	case isa.ActExit:
		s.What = Exit
	case isa.ActReturn:
		s.What = Exit
		return s, f.Kernel, ""
	case isa.ActCall:
		if in.Callee != nil && strings.HasPrefix(in.Callee.Name, "__heddle_") {
			return s, false, "annotations of heddle.h are evaluated by emulation only"
		}
		if c := in.Callee; c != nil && len(c.Blocks) == 0 && !slices.Contains(systemFuncs, c.Name) {
			return s, false, fmt.Sprintf("%s is called, which has no body in its module", c.Demangled)
		}
		return s, false, ""
	default:
		if quiet(a) {
			return s, false, ""
		}
		return s, false, fmt.Sprintf("%s is not logged", in.Text())
	}
	return s, true, ""
}

// access classifies a load, a store or an atomic operation.
func (s *Site) access(opt *Options) (Site, bool, string) {
	in := s.Instr
	list, ok := in.Accesses()
	if !ok || len(list) != 1 {
		return *s, false, in.Text() + " is not logged"
	}
	a := list[0]
	s.What, s.Access, s.Size, s.Ticket = Access, a, a.Size, a.Order.Strong()
	s.Elem = in.Type.Size()
	if t := in.Type; a.Kind.RMW() && (t == isa.F16x2 || t == isa.BF16x2) {
		s.Elem = 2 // "atomicity is guaranteed separately for each of the two" (PTX ISA 9.7.13.5)
	}
	switch {
	case a.Cluster || a.Async:
		return *s, false, in.Text() + " is not logged"
	case a.Space == event.Local || a.Space == event.Const || a.Space == event.Param:
		s.What, s.Ticket = Nothing, false
		return *s, opt.Private && a.Space != event.Param, ""
	case a.Kind == event.Write && !s.Ticket:
		if in.Type.Size() > 8 {
			return *s, false, fmt.Sprintf("the values of %s are not logged", in.Text())
		}
		s.Words = (s.Size + 7) / 8
	case in.Fn == isa.FnCAS:
		dst := in.Dst
		if in.Type.Size() > 8 || len(dst) != 1 || dst[0].Kind != ir.Register {
			return *s, false, fmt.Sprintf("whether %s succeeds is not logged", in.Text())
		}
	}
	return *s, true, ""
}

// barrier classifies bar and barrier.
func (s *Site) barrier() (Site, bool, string) {
	in := s.Instr
	if in.Grid {
		return *s, false, "grid barriers by pragma are not logged"
	}
	u, _ := in.Barrier()
	s.What, s.Aligned = Arrive, u.Aligned
	s.Red = u.Kind == isa.BarrierReduce
	if u.Kind == isa.BarrierArrive {
		s.Op = event.BarArrive
	}
	return *s, true, ""
}

// copied classifies cp.async. Its data are where each lane reads and how many bytes (PTX ISA
// 9.7.9.25.3.1).
func (s *Site) copied() (Site, bool, string) {
	in := s.Instr
	if len(in.Src) < 3 || in.Src[2].Kind != ir.Imm || len(in.Src) > 4 {
		return *s, false, in.Text() + " with these operands is not logged"
	}
	s.What, s.Size, s.Words = CopyIssue, int(in.Src[2].Val), 2
	return *s, true, ""
}

// group classifies cp.async.commit_group and the two waits; wait_all is a commit and a wait (PTX
// ISA 9.7.9.25.3.3).
func (s *Site) group() (Site, bool, string) {
	in := s.Instr
	s.What = CopyGroup
	switch in.Row.Step {
	case isa.AsyncCommit:
		s.Commit = true
	case isa.AsyncWaitAll:
		s.Commit, s.Wait = true, true
	default:
		if len(in.Src) != 1 || in.Src[0].Kind != ir.Imm {
			return *s, false, in.Text() + " without a constant number of groups is not logged"
		}
		s.Wait, s.Pending = true, uint32(min(in.Src[0].Val, 1<<31))
	}
	return *s, true, ""
}
