package weaken

import (
	"context"
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep/thread"
)

// kernel is a kernel of the file as it is, with what is proved of it.
type kernel struct {
	fn       *ir.Func
	selected bool // by the user
	configs  []*launch.Config
	why      string // nothing can be offered in it; empty: something may
	levels   map[level]proved
	runs     map[*ir.Instr]float64
	reach    [][]bool // of its basic blocks
	// fences says that it has fences or orders whose scope is more than the block.
	fences bool
}

// talks reports whether blocks of a kernel may synchronize: by strong accesses beyond shared
// memory, or by fences. A proof for a launch of one block says nothing of that.
func (k *kernel) talks() bool {
	strong := func(in *ir.Instr) bool { return isStrong(in) && in.Space != event.Shared }
	return k.fences || k.fn.Contains(strong)
}

// fencesBeyondBlock reports whether an instruction is a fence, or an access with an order, whose
// scope is more than the block.
func fencesBeyondBlock(in *ir.Instr) bool {
	orders := in.Order.Acquires() || in.Order.Releases()
	return (in.Action() == isa.ActFence || isStrong(in) && orders) && in.Scope > event.CTA
}

// read collects the kernels of the file.
func (w *weakener) read(ctx context.Context) error {
	w.kernels = map[string]*kernel{}
	selected := map[string]bool{}
	for _, k := range w.base.d.Select(w.base.in) {
		selected[k.Name] = true
	}
	for _, f := range w.base.in.Kernels() {
		k := &kernel{fn: f, selected: selected[f.Name], levels: map[level]proved{}}
		k.fences = f.Contains(fencesBeyondBlock)
		w.kernels[f.Name] = k
		k.configs, k.why = w.launches(w.base, f)
		if in := unknown(f); in != nil {
			k.why = fmt.Sprintf("%s is not covered by --optimize", in.Text())
		}
		if k.why == "" && len(w.base.in.Lowered.Omitted) > 0 {
			k.why = "not all kernels of the file compile"
		}
		if k.why != "" {
			continue
		}
		var err error
		if k.runs, err = w.executions(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// at proves a level of the kernel as it is, once.
func (w *weakener) at(ctx context.Context, k *kernel, l level) (proved, error) {
	if k.why != "" {
		return proved{why: k.why}, nil
	}
	p, known := k.levels[l]
	if known {
		return p, nil
	}
	p, err := w.prove(ctx, w.base, k.fn.Name, question{level: l, given: true})
	if err == nil {
		k.levels[l] = p
	}
	return p, err
}

// best returns the first of some levels that all kernels of a site have. If there is none, why is
// that of the last. A place that no thread executes in a run of the launch has none in a kernel
// that is proved for the arguments of the launch only: for those, anything would do.
func (w *weakener) best(ctx context.Context, s *site, levels ...level) (l level, why string,
	err error) {
	for _, l := range levels {
		why = ""
		for k := range s.in {
			p, err := w.at(ctx, k, l)
			if err != nil {
				return 0, "", err
			}
			switch {
			case p.why != "":
				why = p.why
			case p.given && s.executed() == 0:
				why = "no thread executes it with the arguments of the launch, " +
					"and the kernel is not proved for others"
			}
		}
		if why == "" {
			return l, "", nil
		}
	}
	return 0, why, nil
}

// facts are the accesses of a kernel, as the proof of a level has them.
type facts struct {
	*kernel
	th   *thread.Thread
	of   map[*ir.Instr][]*thread.Access
	used map[ir.RegID]bool
}

// facts returns the accesses of a kernel, which has the level.
func (k *kernel) facts(l level) *facts {
	f := &facts{kernel: k, th: k.levels[l].thread, of: map[*ir.Instr][]*thread.Access{},
		used: registersRead(k.fn)}
	if f.th != nil {
		for i := range f.th.Accesses {
			a := &f.th.Accesses[i]
			f.of[a.Instr] = append(f.of[a.Instr], a)
		}
	}
	return f
}

// leads reports whether an execution of one instruction may follow that of another. All threads of
// a block pass the same barriers, so that this also covers what another thread does behind one.
func (k *kernel) leads(from, to *ir.Instr) bool {
	a, b := k.block(from), k.block(to)
	return a == b && from.Index < to.Index || k.follows(a, b)
}

// follows reports whether a path of at least one edge leads from one block to another.
func (k *kernel) follows(from, to ir.BlockID) bool {
	if k.reach == nil {
		k.reach = make([][]bool, len(k.fn.Blocks))
	}
	if k.reach[from] == nil {
		seen := make([]bool, len(k.fn.Blocks))
		todo := []ir.BlockID{from}
		for len(todo) > 0 {
			b := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, s := range k.fn.Block(b).Succs {
				if !seen[s] {
					seen[s] = true
					todo = append(todo, s)
				}
			}
		}
		k.reach[from] = seen
	}
	return k.reach[from][to]
}

// block returns the basic block of an instruction.
func (k *kernel) block(in *ir.Instr) ir.BlockID {
	for _, b := range k.fn.Blocks {
		if n := len(b.Instrs); n > 0 && b.Instrs[0].Index <= in.Index && in.Index <= b.Instrs[n-1].Index {
			return b.ID
		}
	}
	return 0
}

// executed is how often a thread executes a site, on average over the threads of the kernel that
// executes it most; 1 if no kernel could run.
func (s *site) executed() float64 {
	most, known := 0.0, false
	for k, list := range s.in {
		n := 0.0
		for _, in := range list {
			n = max(n, k.runs[in])
		}
		known = known || k.runs != nil
		most = max(most, n)
	}
	if !known {
		return 1
	}
	return most
}
