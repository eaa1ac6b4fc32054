package emu

import (
	"encoding/binary"
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/launch"
)

// hostSymbols gives module variables the contents that the host copied to them, and arguments the
// addresses of variables that the host asked for (cudaMemcpyToSymbol and cudaGetSymbolAddress of
// the CUDA runtime). In a trace, contents stay unknown: it covers all inputs.
func (c *compiler) hostSymbols(k *ir.Func, vars []*ir.Var, objects map[*launch.Buffer]int) error {
	find := func(name string) *ir.Var {
		for _, v := range vars {
			if launch.BaseName(v.Shown()) == name {
				return v
			}
		}
		return nil
	}
	for i, v := range k.Params {
		a := &c.cfg.Args[i]
		if a.Symbol == "" || a.Unknown {
			continue
		}
		if s := find(a.Symbol); s != nil {
			addr := c.p.space.base(c.p.byVar[s]) + a.Offset
			if err := putAddr(c.p.params.data[v.Offset:v.Offset+v.Size], addr); err != nil {
				return fmt.Errorf("argument %s: %w", a.Name, err)
			}
		}
	}
	if c.slice != nil {
		return nil
	}
	for _, v := range vars {
		a, ok := c.cfg.Symbols[launch.BaseName(v.Shown())]
		if !ok || len(v.Relocs) > 0 {
			continue
		}
		data := make([]byte, v.Size)
		copy(data, v.Init)
		switch {
		case a.Buffer == nil:
			copy(data, a.Bits)
		case v.Size >= 8:
			addr, err := c.pointer(objects, a.Buffer, a.Offset)
			if err != nil {
				return fmt.Errorf("variable %s: %w", v.Shown(), err)
			}
			binary.LittleEndian.PutUint64(data, addr)
		default:
			continue
		}
		spec := &c.p.objects[c.p.byVar[v]]
		spec.fill, spec.data = launch.FillFile, data
	}
	return nil
}
