package emu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// capture collects the memory that a launch in an arena can reach.
type capture struct {
	arena  *Arena
	table  *objectTable
	vars   map[uint64]*ir.Var // by their addresses
	out    *launch.Saved
	number map[*object]int // in out.Buffers
	queue  []*object       // in the order of out.Buffers
	total  uint64          // bytes of queue
}

// maxCapture bounds the memory that Save looks at, in bytes.
const maxCapture = 4 << 30

// Save describes a launch with what memory holds now, which must be before the launch is executed:
// the allocations to which the parameters lead, directly or through pointers in other allocations,
// and the variables that the kernel uses. Aligned 8 bytes that are an address in an allocation, or
// its end, count as a pointer; an integer of such a value is very unlikely, as arenas are at
// addresses from 1<<40 on. params is as for Machine. It fails if the launch can reach more than
// 4 GiB.
func (p *Program) Save(cfg *launch.Config, params []byte) (*launch.Saved, error) {
	if len(params) < p.params {
		return nil, p.tooFew(len(params))
	}
	k, g := p.kernel, cfg.Geometry
	c := &capture{arena: p.arena, table: p.arena.table.Load(), vars: make(map[uint64]*ir.Var),
		number: make(map[*object]int)}
	cluster := g.Cluster
	if cluster.Count() == 0 {
		cluster = event.Dim3{X: 1, Y: 1, Z: 1}
	}
	c.out = &launch.Saved{Kernel: k.Name, Demangled: k.Demangled, Grid: g.Grid, Block: g.Block,
		Cluster: cluster, Shared: cfg.DynShared, Params: slices.Clone(params[:p.params]),
		FirstFunc: p.arena.firstFunc(k.Module)}
	for v, at := range p.vars {
		c.vars[at] = v
	}
	c.out.Pointers = c.pointers(c.out.Params, uint64(p.params))
	for _, v := range ir.ReachableVars(k) {
		if at, ok := p.vars[v]; ok && (v.Space == event.Global || v.Space == event.Const) {
			c.add(c.table.find(at))
		}
	}
	for i := 0; i < len(c.queue); i++ { // which grows
		if c.total > maxCapture {
			return nil, fmt.Errorf("the launch can reach more than %d bytes of memory, the most that can "+
				"be saved", uint64(maxCapture))
		}
		o := c.queue[i]
		data := o.mapped[o.base-o.start:][:o.size]
		c.out.Buffers[i].Data = slices.Clone(bytes.TrimRight(data, "\x00"))
		list := c.pointers(c.out.Buffers[i].Data, o.size)
		c.out.Buffers[i].Pointers = list
	}
	return c.out, nil
}

// add returns the number of an object, which is added if it is new; -1 for none.
func (c *capture) add(o *object) int {
	if o == nil || o.freed {
		return -1
	}
	n, ok := c.number[o]
	if !ok {
		n = len(c.queue)
		c.number[o] = n
		c.total += o.size
		c.queue = append(c.queue, o)
		b := launch.SavedBuffer{Name: o.name, Size: o.size}
		if v := c.vars[o.base]; v != nil {
			b.Variable = v.Name
		}
		c.out.Buffers = append(c.out.Buffers, b)
	}
	return n
}

// pointers returns the pointers in size bytes, which are data and zeros behind it.
func (c *capture) pointers(data []byte, size uint64) []launch.SavedPointer {
	var out []launch.SavedPointer
	base, end := c.arena.base, uint64(len(c.arena.mem))
	for off := uint64(0); off < uint64(len(data)) && off+8 <= size; off += 8 {
		var w [8]byte
		copy(w[:], data[off:])
		v := binary.LittleEndian.Uint64(w[:])
		if v-base > end {
			continue
		}
		o := c.table.find(v)
		if o == nil || o.freed {
			o = c.table.before(v - 1) // that ends here
			if o == nil || o.freed || o.base+o.extent != v {
				continue
			}
		}
		n := c.add(o)
		out = append(out, launch.SavedPointer{Offset: off, Buffer: n, At: v - o.base})
	}
	return out
}
