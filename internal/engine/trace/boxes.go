package trace

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/slice"
	"heddle/internal/tensormap"
)

// How many bytes copies of tensors move: what the user says (--tmap), else the metadata of the PTX
// or the tensor map of a saved launch, or else what phases expect (emu.Boxes). The verdict names
// the last as an assumption, and the phases cannot contradict it: where they do not fit, the kernel
// is unsupported.

// boxes sets the sizes of boxes in the slice, as far as they are known, and notes how. It returns
// the instruction of a copy of elements with padding, which an mbarrier does not count, or nil: a
// trace has one size of a box.
func (t *tracer) boxes(ctx context.Context) *ir.Instr {
	known := make(map[*ir.Instr]uint64)
	maps := make(map[slice.Place]bool)
	open := false
	for _, f := range ir.ReachableFuncs(t.job.Kernel) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if use, ok := in.Bulk(); !ok || use.Size >= 0 || use.Value >= 0 {
					continue
				}
				of := t.slice.TensorMaps(in)
				for _, p := range of {
					if m := t.savedMap(p); m != nil && m.Copied() != m.Bytes() {
						return in
					}
				}
				n := t.givenBoxes(of)
				if n == 0 {
					open = true
					continue
				}
				known[in] = n
				for _, v := range of {
					maps[v] = true
				}
			}
		}
	}
	t.slice.Boxes = known
	for v := range maps {
		t.assumed = append(t.assumed, fmt.Sprintf("boxes of tensor map %s of %d bytes", v.Name(),
			t.givenBox(v)))
	}
	if !open {
		slices.Sort(t.assumed)
		return nil
	}
	cfg := t.run.Config
	if i, _ := t.unknownCount(); i >= 0 {
		cfg = t.run.Config.WithNumber(i, someRounds, "chosen by the trace")
	}
	found, err := emu.Boxes(ctx, t.job.Kernel, cfg, t.slice, t.running(t.blocks[:1], 0))
	if err != nil {
		return nil
	}
	sizes := make(map[string]bool)
	for in, n := range found {
		if known[in] > 0 {
			continue
		}
		// The phases of some rounds say nothing about the maps of others, and do not overrule the
		// user.
		if of := t.slice.TensorMaps(in); len(of) > 1 ||
			len(of) == 0 && len(t.job.Options().Boxes) > 0 {
			delete(found, in)
			continue
		}
		name := "a copy"
		if p := t.slice.TensorMap(in); p.Var != nil {
			name = "tensor map " + p.Name()
		}
		sizes[fmt.Sprintf("if boxes of %s have the %d bytes that phases expect (--tmap says it)", name,
			n)] = true
	}
	for text := range sizes {
		t.assumed = append(t.assumed, text)
	}
	slices.Sort(t.assumed)
	t.slice.Boxes, t.guessedBoxes = found, len(sizes) > 0
	return nil
}

// someRounds is a number of rounds in which all phases of a ring expect bytes.
const someRounds = 24

// givenBoxes returns the bytes of a box of each of some tensor maps, if something says them and
// they are equal; else 0.
func (t *tracer) givenBoxes(maps []slice.Place) (n uint64) {
	for i, p := range maps {
		b := t.givenBox(p)
		if i > 0 && b != n {
			return 0
		}
		n = b
	}
	return n
}

// givenBox returns the bytes of a box of a tensor map that the user, the metadata or a saved launch
// has said; else 0. A map in a struct is named by its offset; the name of the struct is that of all
// maps in it.
func (t *tracer) givenBox(p slice.Place) uint64 {
	v := p.Var
	if v == nil {
		return 0
	}
	i := slices.Index(t.job.Kernel.Params, v)
	names := []string{v.Shown(), v.Name}
	if i >= 0 {
		names = append(names, strconv.Itoa(i))
	}
	for _, at := range []string{fmt.Sprintf("+%d", p.At), ""} {
		n := t.job.Box(v, func(b launch.Box) bool {
			return slices.ContainsFunc(names, func(name string) bool { return b.Name == name+at })
		})
		if n > 0 {
			return n
		}
	}
	if m := t.savedMap(p); m != nil {
		return m.Bytes()
	}
	return 0
}

// savedMap returns the tensor map that a saved launch has at a place; nil if it has none.
func (t *tracer) savedMap(p slice.Place) *tensormap.Map {
	i := slices.Index(t.job.Kernel.Params, p.Var)
	if i < 0 || p.At < 0 || p.At+tensormap.Size > int64(len(t.guessed.Args[i].Bits)) {
		return nil
	}
	m, err := tensormap.Decode(t.guessed.Args[i].Bits[p.At : p.At+tensormap.Size])
	if err != nil {
		return nil
	}
	return m
}

// boxesFit makes an execution unsupported that ends because bytes do not match sizes of boxes that
// were concluded from bytes. It reports whether it did.
func (t *tracer) boxesFit(res *emu.Result) bool {
	if !t.guessedBoxes || res.Stop == nil || res.Stop.Kind != emu.BytesMismatch {
		return true
	}
	t.undecided(diag.Unsupported, res.Stop, "phases expect numbers of bytes from which the sizes of "+
		"boxes of tensor maps do not follow (--tmap NAME=BYTES says them)")
	return false
}
