package prove

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/verify"
)

// Launch is a launch that a program makes.
type Launch struct {
	Geometry  event.Geometry
	DynShared uint32
	Params    []byte // at their offsets in the kernel's parameters
	// Find returns the memory that contains an address: an allocation or a variable. nil: unknown.
	Find func(addr uint64) *launch.Memory
	// Var returns where a variable of the module is. nil, also for its result: unknown.
	Var func(v *ir.Var) *launch.Memory
}

// mostChecks is for how many different launches of a kernel bounds are asked for: a program that
// launches it with another number each time should not wait each time.
const mostChecks = 64

// Holds reports whether the assumptions are true of a launch; why says which one is not. Iterations
// is left to the caller.
//
// Pointers are compared by where they point, and each array gets the bytes from there to the next
// pointer or the end of the memory, whichever is first. An array that is only read may have bytes
// in common with others that are only read. That each access stays in the bytes of its array is
// then proved for the numbers among the arguments and the shape of the launch. So arrays whose
// bytes follow each other in one allocation are apart if the kernel leaves none of them.
func (f *FreeAccesses) Holds(ctx context.Context, l *Launch) (ok bool, why string) {
	if !f.Some() {
		return false, f.Reason
	}
	if why := f.unusual(l); why != "" {
		return false, why
	}
	sizes, why := f.place(l)
	if why != "" {
		return false, why
	}
	args, key := f.arguments(l)
	key = fmt.Sprint(l.Geometry, l.DynShared, sizes) + key
	f.mu.Lock()
	defer f.mu.Unlock()
	why, known := f.checked[key]
	if !known {
		if len(f.checked) >= mostChecks {
			return false, fmt.Sprintf("more than %d different launches", mostChecks)
		}
		var err error
		if why, err = f.leaves(ctx, l, args, sizes); err != nil {
			return false, err.Error()
		}
		f.checked[key] = why
	}
	return why == "", why
}

// unusual returns why the shape of a launch is not one of those of the proof; empty if it is.
func (f *FreeAccesses) unusual(l *Launch) string {
	widest := f.Dims.Widest(f.Shape, false)
	block, grid := l.Geometry.Block, l.Geometry.Grid
	size := func(a, b uint32) uint64 { return uint64(a) * uint64(b) }
	const most = 1 << 31
	within := func(d, most event.Dim3) bool {
		return d.X >= 1 && d.Y >= 1 && d.Z >= 1 && d.X <= most.X && d.Y <= most.Y && d.Z <= most.Z
	}
	switch {
	case differs(block, f.Shape.Block, f.Dims.Block), differs(grid, f.Shape.Grid, f.Dims.Grid):
		return "the launch has another shape than the proof"
	case !within(block, widest.Block), !within(grid, widest.Grid), block.Count() > 1024,
		size(block.X, grid.X) >= most, size(block.Y, grid.Y) >= most, size(block.Z, grid.Z) >= most:
		return "the shape of the launch is unusual"
	case l.Geometry.Cluster.Count() > 1:
		return "the launch has clusters"
	}
	return ""
}

// differs reports whether a dimension that is not free has another size than it should have.
func differs(have, want event.Dim3, free [3]bool) bool {
	return !free[0] && have.X != want.X || !free[1] && have.Y != want.Y || !free[2] && have.Z != want.Z
}

// extent is where an array of a launch is, and where the memory ends.
type extent struct{ from, to uint64 }

// place finds the bytes of each array, in the order of arrays. Arrays in shared memory have sizes,
// and dynamic shared memory that of the launch.
func (f *FreeAccesses) place(l *Launch) (sizes []uint64, why string) {
	at := make([]extent, len(f.arrays))
	for i := range f.arrays {
		a := &f.arrays[i]
		var err string
		if at[i], err = l.extent(a); err != "" {
			return nil, err
		}
	}
	for i := range at {
		a, to := &f.arrays[i], at[i].to
		for j := range at {
			b := &f.arrays[j]
			if i == j || a.Space != event.Global || b.Space != event.Global || !a.writes && !b.writes {
				continue
			}
			switch {
			case at[i].from == at[j].from:
				return nil, fmt.Sprintf("%s and %s point to one place", a.Name, b.Name)
			case at[j].from > at[i].from:
				to = min(to, at[j].from)
			}
		}
		sizes = append(sizes, to-at[i].from)
	}
	return sizes, ""
}

// extent finds where an array begins, and how far it can reach.
func (l *Launch) extent(a *array) (extent, string) {
	v := a.Var
	switch {
	case a.Space == event.Shared && v.Unsized:
		return extent{0, uint64(l.DynShared)}, ""
	case a.Space == event.Shared && v.Space == event.Shared:
		return extent{0, uint64(v.Size)}, ""
	case a.Space != event.Global:
		return extent{}, fmt.Sprintf("where %s is is not known", a.Name)
	case v.Space == event.Global:
		if l.Var != nil {
			if m := l.Var(v); m != nil && m.Size > 0 && m.Addr+m.Size > m.Addr {
				return extent{m.Addr, m.Addr + m.Size}, ""
			}
		}
		return extent{}, fmt.Sprintf("where the variable %s is is not known", a.Name)
	case v.Space != event.Param || a.Field < 0:
		return extent{}, fmt.Sprintf("where %s is is not known", a.Name)
	}
	off := v.Offset + a.Field
	if off+8 > len(l.Params) {
		return extent{}, fmt.Sprintf("the launch has no parameter %s", a.Name)
	}
	addr := binary.LittleEndian.Uint64(l.Params[off:])
	if l.Find != nil {
		m := l.Find(addr)
		if m != nil && m.Addr <= addr && addr-m.Addr < m.Size && m.Addr+m.Size > m.Addr {
			return extent{addr, m.Addr + m.Size}, ""
		}
	}
	return extent{}, fmt.Sprintf("%s points to unknown memory", a.Name)
}

// arguments returns the numbers among the arguments, by index, and a text that tells them apart.
func (f *FreeAccesses) arguments(l *Launch) (args map[int]uint64, key string) {
	args = map[int]uint64{}
	var b strings.Builder
	for i, v := range f.Kernel.Params {
		if v.Pointer || len(v.PtrFields) > 0 || v.Size > 8 || v.Offset+v.Size > len(l.Params) {
			continue
		}
		var bits uint64
		for j, x := range l.Params[v.Offset : v.Offset+v.Size] {
			bits |= uint64(x) << (8 * j)
		}
		args[i] = bits
		fmt.Fprintf(&b, " %d:%x", i, bits)
	}
	return args, b.String()
}

// leaves returns which access is not proved to stay in its array; empty if all are.
func (f *FreeAccesses) leaves(ctx context.Context, l *Launch, args map[int]uint64,
	sizes []uint64) (string, error) {
	g := l.Geometry
	g.Cluster = event.Dim3{X: 1, Y: 1, Z: 1}
	th, why, err := f.build(ctx, lockstep.Options{Geometry: g, Args: args})
	if th == nil {
		return why, err
	}
	unknown := ""
	size := func(o *lockstep.Object) (uint64, bool) {
		switch o.Space {
		case event.Const, event.Param:
			return 0, false // nothing is written there
		case event.Local:
			return uint64(o.Var.Size), true
		}
		i := slices.IndexFunc(f.arrays, func(a array) bool {
			return a.Var == o.Var && a.Field == o.Field ||
				o.Space == event.Shared && a.Space == event.Shared && o.Var.Unsized && a.Var.Unsized
		})
		if i < 0 { // cannot be: fewer accesses are possible than in all launches
			unknown = fmt.Sprintf("%s was not examined", o.Name)
			return 0, true
		}
		return sizes[i], true
	}
	r := verify.BeyondArrays(ctx, th, verify.Options{Limit: 1, Exists: true, Barriers: true,
		Steps: f.opt.Launch, Solvers: freeSolvers(), Sizes: size})
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if list := slices.Concat(r.Findings, r.Unbounded); len(list) > 0 {
		name := "local memory"
		switch o := list[0].Object; {
		case o != nil:
			name = o.Name
		case list[0].A.Space != event.Local:
			return fmt.Sprintf("an access may follow a null pointer: %s", list[0].A.Text()), nil
		}
		return fmt.Sprintf("an access to %s may leave it: %s", name, list[0].A.Text()), nil
	}
	return unknown, nil
}
