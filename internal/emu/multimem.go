package emu

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Operations on all replicas of a multicast object, PTX ISA 9.7.9.14. A multimem address "points to
// multiple distinct memory locations across devices" (8.2.3), and here is one device: the team of
// the object has no other, so that a multimem address is that of one location, the reduction of
// what is loaded from all locations is the value that is loaded, and the other two are a store and
// a reduction. What the threads of other devices do is not executed. That no other instruction may
// use the address is not checked, since the memory behind it may have the same one.

// multimem decodes multimem.ld_reduce, .st and .red.
func (c *compiler) multimem(in *ir.Instr) error {
	if c.slice != nil {
		return fmt.Errorf("%s is not supported in a trace", opcodeText(in))
	}
	switch in.Type {
	case isa.E4M3, isa.E5M2, isa.E4M3x2, isa.E5M2x2, isa.E4M3x4, isa.E5M2x4:
		return fmt.Errorf("%s is not supported: formats of 8 bits", opcodeText(in))
	}
	global := *in // generic addresses have to be in global memory
	global.Space = event.Global
	return c.access(&global)
}
