package weaken

import (
	"context"
	"fmt"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/event"
)

// The scope of an atomic operation is narrowed, from the system to the device or from the device to
// the block. Scopes decide which accesses it is morally strong with (PTX ISA 8.5, 8.7): with those
// of threads that the scopes of both include. Against any other thread that accesses the same bytes
// it is a race. The changed kernel is proved with the new scope, so that no thread of another block
// accesses what the operation accesses. Then it is atomic, and coherent, with respect to everything
// that it meets (8.10.1, 8.10.3). What a fence or a memory order passes on through it is passed to
// threads of its block only, before and after: no other thread reads it. Causality order composes
// over scopes (8.9.5), so that what its block passes on by other operations includes the same as
// before.
//
// No level is needed beyond the proof: the results of atomic operations are what they were.
//
// The scope of the system concerns the host and other GPUs, and that of the device other kernels;
// outside.go has the rule. A relaxed operation in a kernel without fences announces nothing.
// Operations on shared memory are left alone, since only their block can access it: nothing would
// be saved. The functions with a suffix need sm_60.
//
// The rule misses cuda::atomic and cuda::atomic_ref, whose scope is part of a type that several
// operations share.

// scopedNames are the functions that exist with the suffixes _block and _system.
var scopedNames = []string{"atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd",
	"atomicOr", "atomicXor", "atomicInc", "atomicDec", "atomicExch", "atomicCAS"}

// scoped returns the name of an atomic function without its suffix; empty for other names.
func scoped(name string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(name, "_system"), "_block")
	for _, n := range scopedNames {
		if n == base {
			return n
		}
	}
	return ""
}

// scope offers narrower scopes for an atomic function.
func (w *weakener) scope(ctx context.Context, s *site) ([]*option, string, error) {
	base := scoped(s.name)
	if s.name == base+"_block" {
		return nil, "its scope is the block already", nil
	}
	l, why, err := w.best(ctx, s, quiet, alone, plain)
	switch {
	case why != "" || err != nil:
		return nil, why, err
	case inShared(s, l):
		return nil, "only its block can access shared memory: a narrower scope saves nothing", nil
	}
	if s.name == base+"_system" {
		if why := w.beyondDevice(s, l); why != "" {
			return nil, why, nil
		}
	}
	if word := w.mentioned(overlapWords); word != "" {
		return nil, fmt.Sprintf("another kernel may run at the same time and access the same memory (%s)",
			word), nil
	}
	for k := range s.in {
		if !k.fences {
			continue
		}
		if why := w.beyondKernel(s, l); why != "" {
			return nil, why, nil
		}
	}
	rank := rankDevice
	if s.name != base {
		rank = rankSystem
	}
	block := w.scopeOption(s, base+"_block", rank-rankBlock, l)
	block.assuming = "no other kernel that runs at the same time accesses this memory"
	block.why = []string{"no thread of another block accesses what it accesses"}
	out := []*option{block}
	if s.name != base {
		device := w.scopeOption(s, base, rank-rankDevice, l)
		device.why = []string{"the file allocates the memory on the device, " +
			"and nothing shows that anything else accesses it"}
		device.assuming = "neither the host nor another GPU accesses this memory while the kernel runs"
		out = append(out, device)
	}
	return out, "", nil
}

// scopeOption is the option of another function.
func (w *weakener) scopeOption(s *site, name string, gain float64, l level) *option {
	return &option{
		site: s, kind: Scope, before: s.name, after: name, need: l, gain: gain,
		edits: []edit.Edit{w.replace(s.offset, s.offset+len(s.name), name)},
	}
}

// inShared reports whether all instructions of a site access shared memory.
func inShared(s *site, l level) bool {
	for k, list := range s.in {
		f := k.facts(l)
		for _, in := range list {
			if in.Space != event.Shared && (len(f.of[in]) == 0 || global(f.of[in])) {
				return false
			}
		}
	}
	return true
}
