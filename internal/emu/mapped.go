package emu

import (
	"fmt"
	"slices"
	"sync"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
)

// Kernels in an arena. A program launches a kernel many times, with other arguments and often with
// the same block. Decoded code contains the block, the cluster and the layout of shared memory, and
// reads the arguments and the size of the grid at run time, so that it serves all these launches.

// Program is a kernel prepared for launches in an arena. Its methods may be called from several
// goroutines.
type Program struct {
	kernel *ir.Func
	arena  *Arena
	vars   map[*ir.Var]uint64
	others []*ir.Module // whose functions the kernel may call by their addresses
	params int          // bytes of the parameters of a launch
	origin []uint32     // of the bytes of the parameter area: all known

	mu    sync.Mutex
	codes map[codeKey]*program
	kids  *programs
}

// programs are a kernel and those that its threads and theirs have launched, each once.
type programs struct {
	mu sync.Mutex
	of map[*ir.Func]*Program
}

// codeKey is what the decoded code of a kernel depends on.
type codeKey struct {
	block, cluster event.Dim3
	shared         uint32
}

// maxCodes is the number of decoded forms of a kernel that are kept.
const maxCodes = 64

// NewProgram prepares kernel k. vars has the addresses of the variables that MemoryVars returns,
// and of external ones that another module defines; others are the modules with which that of the
// kernel is linked. It fails if the kernel has no body, with an UnsupportedError if its addresses
// have 32 bits.
func NewProgram(k *ir.Func, a *Arena, vars map[*ir.Var]uint64, others ...*ir.Module) (*Program,
	error) {
	if len(k.Blocks) == 0 {
		return nil, fmt.Errorf("kernel %s has no body", k.Demangled)
	}
	if n := k.Module.AddressSize; n != 64 {
		return nil, &UnsupportedError{k.Span,
			fmt.Sprintf("a module with %d-bit addresses in a program with 64-bit ones", n)}
	}
	p := &Program{kernel: k, arena: a, vars: vars, others: others, origin: make([]uint32, k.ParamSize),
		codes: make(map[codeKey]*program)}
	p.kids = &programs{of: map[*ir.Func]*Program{k: p}}
	for _, v := range k.Params {
		p.params = max(p.params, v.Offset+v.Size)
	}
	return p, nil
}

// ParamBytes returns the size of the parameters of a launch, in bytes.
func (p *Program) ParamBytes() int { return p.params }

// Machine returns the machine for one launch. params holds the parameters at their offsets in
// ir.Func.Params, with pointers into the arena as they are, and is not kept. Of cfg only Geometry
// and DynShared count.
func (p *Program) Machine(cfg *launch.Config, params []byte) (*Machine, error) {
	if len(params) < p.params {
		return nil, p.tooFew(len(params))
	}
	if err := checkLaunch(p.kernel, cfg); err != nil {
		return nil, err
	}
	code, err := p.code(cfg)
	if err != nil {
		return nil, err
	}
	prog := *code
	prog.params = paramImage{data: make([]byte, p.kernel.ParamSize), origin: p.origin}
	copy(prog.params.data, params[:p.params])
	return &Machine{kernel: p.kernel, cfg: cfg, prog: &prog}, nil
}

// tooFew is the error for a launch with n bytes of parameters.
func (p *Program) tooFew(n int) error {
	return fmt.Errorf("kernel %s has %d bytes of parameters; the launch gives %d", p.kernel.Demangled,
		p.params, n)
}

// code returns the decoded kernel for a launch.
func (p *Program) code(cfg *launch.Config) (*program, error) {
	key := codeKey{cfg.Geometry.Block, cfg.Geometry.Cluster, cfg.DynShared}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.codes[key]; c != nil {
		return c, nil
	}
	c, err := newProgram(&compiler{cfg: cfg, mapped: p}, p.kernel, true)
	if err != nil {
		return nil, err
	}
	c.spares = new(spares)
	if len(p.codes) >= maxCodes {
		clear(p.codes)
	}
	p.codes[key] = c
	return c, nil
}

// spares keeps what runs of one program need and the next one can use again, since a program with
// thousands of small launches would otherwise spend most of its time in allocating: registers, warps
// and shared memory, all of which a run clears before use. A nil spares keeps nothing.
type spares struct {
	mu   sync.Mutex
	list []spareState
}

// spareState is from one run, which has ended well.
type spareState struct {
	exec   *exec
	blocks []*block
}

// Bounds of what is kept: states, blocks of each, and bytes that a run may have allocated beside
// them. What is kept does not count as memory of the next run.
const (
	maxSpares      = 4
	maxSpareBlocks = 64
	maxSpareBytes  = 8 << 20
)

// take returns what is kept, or a new state.
func (s *spares) take() spareState {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.list); n > 0 {
			k := s.list[n-1]
			s.list = s.list[:n-1]
			return k
		}
	}
	return spareState{exec: new(exec)}
}

// put keeps the state of a run, without what belongs to the run alone.
func (s *spares) put(k spareState) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == maxSpares {
		return
	}
	x := k.exec
	*x = exec{pool: x.pool, patterns: x.patterns}
	k.blocks = k.blocks[:min(len(k.blocks), maxSpareBlocks)]
	s.list = append(s.list, k)
}

// MemoryVars returns the variables of a module that need memory in an arena: the global and
// constant ones that it defines, also within its functions.
func MemoryVars(m *ir.Module) []*ir.Var {
	var out []*ir.Var
	add := func(vars []*ir.Var) {
		for _, v := range vars {
			if (v.Space == event.Global || v.Space == event.Const) && (!v.Extern || v.Init != nil) &&
				v.Size > 0 {
				out = append(out, v)
			}
		}
	}
	add(m.Vars)
	for _, f := range m.Funcs {
		add(f.Vars)
	}
	return out
}

// InitVar returns the initial contents of a variable: its initialiser, with the addresses of vars
// and of functions, or zeros. The owner of the arena stores them before the first launch. It fails for
// the address of a variable that vars does not have.
func (a *Arena) InitVar(v *ir.Var, vars map[*ir.Var]uint64) ([]byte, error) {
	return initBytes(v, func(r ir.Reloc) (uint64, error) {
		add := uint64(r.Addend)
		switch {
		case r.Func != nil:
			return a.funcAddr(r.Func) + add, nil
		case r.Target == nil:
			return add, nil
		}
		at, ok := vars[r.Target]
		if !ok {
			return 0, fmt.Errorf("the address of %s, which is not in global memory", r.Target.Name)
		}
		return at + add, nil
	})
}

// reachable returns k and every function that may run when k does. In a program, a pointer to a
// function may have been stored by another kernel of the module, or of one with which it is linked:
// an indirect call without a list of targets can reach each function whose address they take.
func (c *compiler) reachable(k *ir.Func) []*ir.Func {
	funcs := ir.ReachableFuncs(k)
	if c.mapped == nil && c.cfg.Vars == nil || !slices.ContainsFunc(funcs, callsAny) {
		return funcs
	}
	seen := make(map[*ir.Func]bool)
	for _, f := range funcs {
		seen[f] = true
	}
	modules := []*ir.Module{k.Module}
	if c.mapped != nil {
		modules = append(modules, c.mapped.others...)
	}
	for _, m := range modules {
		for _, t := range ir.AddressTaken(m) {
			if t.Kernel {
				continue // a kernel cannot be called
			}
			for _, f := range ir.ReachableFuncs(t) {
				if !seen[f] {
					seen[f] = true
					funcs = append(funcs, f)
				}
			}
		}
	}
	return funcs
}

// callsAny reports whether f has an indirect call without a list of targets.
func callsAny(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Action() == isa.ActCall && in.Callee == nil && len(in.Targets) == 0 {
				return true
			}
		}
	}
	return false
}
