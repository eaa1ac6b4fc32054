package launch

import (
	"encoding/binary"
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Launches that a running program makes. Everything about them is known; nothing is guessed.

// Memory is a piece of memory that a program has allocated.
type Memory struct {
	Name       string
	Addr, Size uint64
}

// OfProgram describes a launch for reports: the parameters in params, at their offsets in k.Params.
// find returns the memory that contains an address; nil stands for no memory. Pointers are shown by
// the memory that they point to, other parameters by their values. The memory itself is not part of
// the result, which no engine but a machine of emu.Program can execute.
func OfProgram(k *ir.Func, g event.Geometry, shared uint32, params []byte,
	find func(addr uint64) *Memory) *Config {
	c := &Config{Geometry: g, DynShared: shared, Args: make([]Arg, len(k.Params)),
		Origins: map[string]Origin{"grid": FromProgram, "block": FromProgram, "cluster": FromProgram,
			"shared": FromProgram}}
	for i, v := range k.Params {
		a := &c.Args[i]
		a.Name, a.Float = paramName(v), !isStruct(v) && v.Type.IsFloat()
		c.Origins["arg "+a.Name] = FromProgram
		if v.Offset+v.Size > len(params) {
			continue
		}
		a.Bits = params[v.Offset : v.Offset+v.Size]
		if v.Size != 8 || v.Type.IsFloat() {
			continue
		}
		at := binary.LittleEndian.Uint64(a.Bits)
		if m := find(at); m != nil {
			a.Buffer, a.Offset = &Buffer{Name: m.Name, Size: m.Size, Fill: FillMemory}, at-m.Addr
		}
	}
	return c
}

// describeMemory describes a pointer into the memory of a program.
func (a *Arg) describeMemory() string {
	if a.Buffer.Size == 0 { // it is not known
		return fmt.Sprintf("%s: %s%s", a.Name, a.Buffer.Name, pointerAt(a.Offset))
	}
	return fmt.Sprintf("%s: %s, %d bytes%s", a.Name, a.Buffer.Name, a.Buffer.Size, pointerAt(a.Offset))
}
