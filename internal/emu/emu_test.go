package emu

import (
	"context"
	"encoding/binary"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	. "heddle/internal/ir/irtest"
	"heddle/internal/launch"
)

// lane-wise index arithmetic that most tests start with: %i is the thread's number in the block.
func dim(x uint32) event.Dim3 { return event.Dim3{X: x, Y: 1, Z: 1} }

// buffer is an argument that points to size bytes of zeros.
func buffer(name string, size uint64) launch.Arg {
	return launch.Arg{Name: name, Buffer: &launch.Buffer{Name: name, Size: size}}
}

func value32(name string, v uint32) launch.Arg {
	return launch.Arg{Name: name, Bits: binary.LittleEndian.AppendUint32(nil, v)}
}

func config(grid, block uint32, args ...launch.Arg) *launch.Config {
	return &launch.Config{Geometry: event.Geometry{Grid: dim(grid), Block: dim(block), Cluster: dim(1)}, Args: args}
}

// recorder keeps copies of the events of a run.
type recorder struct {
	events []any
	bytes  uint64 // of accesses
}

type access struct {
	event.Access
	Addr [32]uint64
	Data [4][32]uint64
}

func (r *recorder) Access(a *event.Access) {
	c := access{Access: *a}
	for l := range 32 {
		if a.Mask>>l&1 == 0 {
			continue
		}
		c.Addr[l] = a.Addr[l]
		if a.Data != nil {
			for k := range c.Data {
				if 8*k < int(a.Size) {
					c.Data[k][l] = a.Data[k][l]
				}
			}
		}
	}
	c.Access.Addr, c.Access.Data = nil, nil
	r.events = append(r.events, c)
}
func (r *recorder) Fence(e *event.Fence)       { r.events = append(r.events, *e) }
func (r *recorder) Arrive(e *event.Arrive)     { r.events = append(r.events, *e) }
func (r *recorder) Complete(e *event.Complete) { r.events = append(r.events, *e) }
func (r *recorder) WarpSync(e *event.WarpSync) { r.events = append(r.events, *e) }
func (r *recorder) Converge(e *event.Converge) { r.events = append(r.events, *e) }
func (r *recorder) Exit(e *event.Exit)         { r.events = append(r.events, *e) }
func (r *recorder) Stall(e *event.Stall)       { r.events = append(r.events, *e) }

// of returns the events of type T, in order.
func of[T any](r *recorder) (out []T) {
	for _, e := range r.events {
		if t, ok := e.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// start runs a kernel and returns what happened.
func start(t *testing.T, k *ir.Func, cfg *launch.Config, opt Options) (*Machine, *Result, *recorder) {
	t.Helper()
	m, err := New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	res, err := m.Run(context.Background(), opt, r)
	if err != nil {
		t.Fatal(err)
	}
	return m, res, r
}

// completed is start, and demands that the run comes to its end.
func completed(t *testing.T, k *ir.Func, cfg *launch.Config, opt Options) (*Result, *recorder) {
	t.Helper()
	_, res, r := start(t, k, cfg, opt)
	if res.Stop != nil {
		t.Fatalf("stopped: %s", res.Stop.Message)
	}
	if res.Status != Completed {
		t.Fatalf("status %d after %d steps", res.Status, res.Steps)
	}
	return res, r
}

// words reads n 32-bit words of an object.
func words(t *testing.T, res *Result, object string, n int) []uint32 {
	t.Helper()
	b := make([]byte, 4*n)
	if _, err := res.Read(object, 0, b); err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func wantWords(t *testing.T, res *Result, object string, n int, want func(i int) uint32) {
	t.Helper()
	for i, v := range words(t, res, object, n) {
		if w := want(i); v != w {
			t.Fatalf("%s[%d] = %#x, want %#x", object, i, v, w)
		}
	}
}

// twoModels runs f for both warp models and some seeds.
func twoModels(t *testing.T, f func(t *testing.T, opt Options)) {
	for _, model := range []WarpModel{Independent, Lockstep} {
		for seed := range uint64(5) {
			f(t, Options{Model: model, Seed: seed, MaxSteps: 10_000_000})
		}
	}
}

// index puts the thread's number in the grid into i and the address of element i of out into p.
func index() []Stmt {
	return []Stmt{
		Op("mov.u32", "i", "%tid.x"),
		Op("mov.u32", "b", "%ctaid.x"),
		Op("mov.u32", "n", "%ntid.x"),
		Op("mad.lo.u32", "i", "b", "n", "i"),
		Op("ld.param.u64", "p", at("out", 0)),
		Op("mul.wide.u32", "q", "i", 4),
		Op("add.u64", "p", "p", "q"),
	}
}

// regs are the registers that tests use.
func regs() Part {
	return Regs("i u32", "b u32", "n u32", "v u32", "w u32", "u u32", "k u32", "p u64", "q u64", "r u64", "s u64",
		"c pred", "d pred", "e pred", "h u16", "f f32")
}

func body(name string, lists ...[]Stmt) Part {
	var all []Stmt
	for _, l := range lists {
		all = append(all, l...)
	}
	return Block(name, all...)
}

func TestStraightLine(t *testing.T) {
	k := Fun("k", regs(), Param("out", 8), Param("x", 4),
		body("entry", index(), []Stmt{
			Op("ld.param.u32", "v", at("x", 0)),
			Op("mad.lo.u32", "v", "i", "i", "v"),
			Op("st.global.u32", at("p", 0), "v"),
			Op("ret"),
		}))
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(3, 80, buffer("out", 960), value32("x", 7)), opt)
		wantWords(t, res, "out", 240, func(i int) uint32 { return uint32(i*i + 7) })
		if res.Blocks != 3 || res.Steps != 3*3*11 || res.LaneInstrs != 240*11 {
			t.Errorf("blocks %d, steps %d, lane instructions %d", res.Blocks, res.Steps, res.LaneInstrs)
		}
		as := of[access](r)
		if len(as) != 9 {
			t.Fatalf("%d accesses, want one for each of 9 warps", len(as))
		}
		for _, a := range as {
			want := full
			if a.Warp%3 == 2 { // 80 threads: the third warp has 16
				want = 0xffff
			}
			if a.Kind != event.Write || a.Space != event.Global || a.Mask != want || a.Active != want || a.Stored != want || a.Size != 4 {
				t.Fatalf("access %+v", a.Access)
			}
			i := uint64(a.Warp/3)*80 + uint64(a.Warp%3)*32 + 5
			if a.Data[0][5] != i*i+7 {
				t.Errorf("warp %d lane 5 stores %d", a.Warp, a.Data[0][5])
			}
		}
	})
}

func at(base string, off int64) Mem { return Mem{Base: base, Off: off} }
