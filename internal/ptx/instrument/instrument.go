// Package instrument rewrites PTX so that a kernel logs what it does to memory and to
// synchronization while it runs on a GPU: Barracuda, section 4.1. The records are events of whole
// warps, written into queues from which package gpu/queue makes events again.
//
// A call of a log function is added before each weak access to global or shared memory, each
// fence, barrier and end of threads, and around each strong access, which it makes one at a time
// in the grid. The functions find the warp and its queue themselves, so that device functions,
// recursion and indirect calls need no changes: the paper adds an argument to each function
// instead.
//
// What a kernel does that these records do not describe makes it refused, with the reason:
// mbarriers, bulk copies, clusters, textures, surfaces, matrices in memory, and annotations of
// heddle.h. An instruction between one that writes the carry flag and one that reads it cannot be
// logged either, since calls do not preserve the flag.
package instrument

import (
	"bytes"
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Options are the choices of a rewriting.
type Options struct {
	Lockstep bool // log where the paths of warps part and meet
	Values   bool // log what all stores store, for event.BenignAll
	// What makes records fewer or shorter can be turned off, to measure it.
	Fixed    bool // records of one size, as in the paper: no affine records, room for 32 addresses
	Private  bool // log accesses to local and constant memory, too
	Separate bool // a record for each access: none stands for several
	// Free reports whether an access of the module needs no log in launches of which the host has
	// checked what that assumes (LogAll); nil: each needs one. Strong accesses are logged always.
	Free func(*ir.Instr) bool
	// Proved reports whether nothing of a kernel needs a log in such a launch; nil: no kernel is.
	Proved func(*ir.Func) bool
	// Queues and Slots, a power of two, make the queues variables of the module, with Slots slots in
	// each queue. With Queues 0 the host provides their memory.
	Queues, Slots int
	// Number is what the module has in a variable, by which a loaded module is told from others; 0:
	// there is no variable.
	Number uint32
}

// Result is an instrumented module.
type Result struct {
	Text    []byte // PTX
	Sites   []Site
	Kernels []Kernel // in the order of the text
	Options Options
}

// Kernel says what became of a kernel.
type Kernel struct {
	Func   *ir.Func
	Reason string      // why it is not instrumented; empty if it is
	Span   source.Span // of the instruction that is the reason
	Instrs int         // static instructions, with those of the functions that it can call
	Logged int         // of these, those with a log call of their own
	Merged int         // those for which another one's records stand
	// Free counts those, merged ones included, that are not logged while LogAll is 0, and Proved says
	// that these are all.
	Free   int
	Proved bool
	// Registers is how many virtual registers of 32 bits the longest log call adds beside those of the
	// kernel, the arguments of the call included; a 64-bit register counts twice. What ptxas makes of
	// them is not known here, but a call keeps all live registers of the kernel.
	Registers int
	// Params are the bytes of parameters of the log call with the most of them. They are registers or
	// stack, as the ABI of the target says. The log functions use no local memory.
	Params int
	// Stack says that the kernel had no calls before: it needs a stack now.
	Stack bool
}

// Module instruments the kernels of a module. file, tree and m are its text, its tree and its IR,
// none of which changes. It returns an error if nothing in the module can be instrumented because
// of its version, target or size of addresses.
func Module(file *source.File, tree *ptx.File, m *ir.Module, opt Options) (*Result, error) {
	if m.AddressSize != 64 {
		return nil, fmt.Errorf("modules with %d-bit addresses are not instrumented", m.AddressSize)
	}
	t, err := targetOf(m.Version, m.Target)
	if err != nil {
		return nil, err
	}
	if q, s := opt.Queues, opt.Slots; q > 0 && (s < 2*MaxSlots || s&(s-1) != 0) {
		return nil, fmt.Errorf("%d slots: a power of two of at least %d expected", s, 2*MaxSlots)
	}
	if bytes.Contains(file.Content, []byte(Prefix)) {
		return nil, fmt.Errorf("the module has names that begin with %s: it is instrumented already",
			Prefix)
	}
	r := &rewriter{file: file, mod: m, opt: &opt, res: &Result{Options: opt},
		refused: make(map[*ir.Func]*refusal), at: make(map[int]int), variants: make(map[string]variant)}
	r.positions(tree)
	funcs := r.kernels()
	for _, f := range funcs {
		r.function(f)
	}
	r.bound(tree)
	if len(r.res.Sites) >= 1<<SiteBits {
		return nil, fmt.Errorf("%d sites, more than records can name", len(r.res.Sites))
	}
	text := r.text(tree, t)
	set := source.NewSet()
	out, err := set.Add(file.Name, text)
	if err != nil {
		return nil, err
	}
	parsed, errs := ptx.Parse(out)
	if len(errs) > 0 {
		return nil, fmt.Errorf("the instrumented text is invalid: %v", errs[0])
	}
	var b bytes.Buffer
	if err := ptx.Print(&b, parsed); err != nil {
		return nil, err
	}
	r.res.Text = b.Bytes()
	return r.res, nil
}
