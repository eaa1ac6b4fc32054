package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

func dim(x uint32) event.Dim3 { return event.Dim3{X: x, Y: 1, Z: 1} }

// buffer is an argument that points to size bytes of zeros.
func buffer(name string, size uint64) launch.Arg {
	return launch.Arg{Name: name, Buffer: &launch.Buffer{Name: name, Size: size}}
}

func value(name string, v uint64) launch.Arg {
	return launch.Arg{Name: name, Bits: binary.LittleEndian.AppendUint64(nil, v)}
}

// config is a launch of kernel(): of one or both arguments.
func config(grid, block uint32, args ...launch.Arg) *launch.Config {
	if len(args) == 1 {
		args = append(args, value("x", 0))
	}
	return &launch.Config{Geometry: event.Geometry{Grid: dim(grid), Block: dim(block),
		Cluster: dim(1)}, Args: args}
}

// recorder keeps copies of the events of a run.
type recorder struct {
	events []any
}

type access struct {
	event.Access
	Addr [32]uint64
	Data [4][32]uint64
}

// copied is a recorded event.Copy.
type copied struct {
	event.Copy
	to, from [event.WarpSize]uint64
	read     [event.WarpSize]uint8
}

func (r *recorder) Access(a *event.Access) {
	for l := 1; a.Row != 0 && l < event.WarpSize; l++ {
		if a.Mask != full || l%int(a.Row) != 0 && a.Addr[l] != a.Addr[l-1]+a.Step {
			panic(fmt.Sprintf("rows of %d lanes, step %d, do not describe %+v at %v", a.Row, a.Step, a,
				a.Addr))
		}
	}
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
	c.Access.Addr, c.Access.Data, c.Access.Row, c.Access.Step = nil, nil, 0, 0
	r.events = append(r.events, c)
}
func (r *recorder) Fence(e *event.Fence)             { r.events = append(r.events, *e) }
func (r *recorder) Arrive(e *event.Arrive)           { r.events = append(r.events, *e) }
func (r *recorder) Cluster(*event.ClusterBarrier)    {}
func (r *recorder) InitFence(*event.InitFence)       {}
func (r *recorder) Complete(e *event.Complete)       { r.events = append(r.events, *e) }
func (r *recorder) WarpSync(e *event.WarpSync)       { r.events = append(r.events, *e) }
func (r *recorder) Converge(e *event.Converge)       { r.events = append(r.events, *e) }
func (r *recorder) Exit(e *event.Exit)               { r.events = append(r.events, *e) }
func (r *recorder) CopyGroup(e *event.CopyGroup)     { r.events = append(r.events, *e) }
func (r *recorder) CopyArrive(e *event.CopyArrive)   { r.events = append(r.events, *e) }
func (r *recorder) Bulk(e *event.Bulk)               { r.events = append(r.events, *e) }
func (r *recorder) Matrix(e *event.Matrix)           { r.events = append(r.events, *e) }
func (r *recorder) MatrixGroup(e *event.MatrixGroup) { r.events = append(r.events, *e) }
func (r *recorder) TensorSync(e *event.TensorSync)   { r.events = append(r.events, *e) }
func (r *recorder) Tensor(e *event.TensorAgent) {
	c := *e
	c.Rects = slices.Clone(e.Rects)
	r.events = append(r.events, c)
}
func (r *recorder) BulkGroup(e *event.BulkGroup)   { r.events = append(r.events, *e) }
func (r *recorder) Signal(e *event.Signal)         { r.events = append(r.events, *e) }
func (r *recorder) MBarrier(e *event.MBarrier)     { r.events = append(r.events, *e) }
func (r *recorder) ProxyFence(e *event.ProxyFence) { r.events = append(r.events, *e) }
func (r *recorder) Copy(e *event.Copy) {
	c := copied{Copy: *e}
	for l := range 32 {
		if e.Mask>>l&1 != 0 {
			c.to[l], c.from[l], c.read[l] = e.To[l], e.From[l], e.Read[l]
		}
	}
	c.Copy.To, c.Copy.From, c.Copy.Read = nil, nil, nil
	r.events = append(r.events, c)
}
func (r *recorder) Stall(e *event.Stall) { r.events = append(r.events, *e) }

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
func start(t *testing.T, k *ir.Func, cfg *launch.Config, opt Options) (*Machine, *Result,
	*recorder) {
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

// completed is start, and requires that the run completes.
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
	for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
		for seed := range uint64(5) {
			f(t, Options{Model: model, Seed: seed, MaxSteps: 10_000_000})
		}
	}
}

// kernel compiles the body of a kernel with the parameters out and x. It starts with the thread's
// number in the grid in %i, that in the block in %t, the address of out in %o and that of its
// element i in %p.
func kernel(t testing.TB, text string) *ir.Func {
	t.Helper()
	return module(t, `.visible .entry k(.param .u64 out, .param .u64 x) {
	.reg .u32 %i, %t, %b, %n, %v, %w, %u, %z;
	.reg .u64 %o, %p, %q, %r, %s, %x;
	.reg .pred %c, %d, %e;
	.reg .b16 %h;
	.reg .f32 %f, %g;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %n, %ntid.x;
	mad.lo.u32 %i, %b, %n, %t;
	ld.param.u64 %o, [out];
	ld.param.u64 %x, [x];
	mad.wide.u32 %p, %i, 4, %o;
`+text+"\n}")
}

// preamble is the number of instructions that kernel puts first.
const preamble = 7

// module compiles PTX text and returns the kernel k.
func module(t testing.TB, text string) *ir.Func {
	t.Helper()
	return moduleText(t, ".version 8.3\n.target sm_70\n.address_size 64\n"+text+"\n")
}

// moduleText is module with the directives at the head in text.
func moduleText(t testing.TB, text string) *ir.Func {
	t.Helper()
	set := source.NewSet()
	f, err := set.Add("test.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(f)
	for _, e := range errs {
		t.Fatal(e)
	}
	m, errs := irgen.Module(set, tree)
	for _, e := range errs {
		t.Fatal(e)
	}
	for _, e := range ir.CheckModule(m) {
		t.Fatal(e)
	}
	return m.Kernel("k")
}

func TestStraightLine(t *testing.T) {
	k := kernel(t, `
	ld.param.u32 %v, [x];
	mad.lo.u32 %v, %i, %i, %v;
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(3, 80, buffer("out", 960), value("x", 7)), opt)
		wantWords(t, res, "out", 240, func(i int) uint32 { return uint32(i*i + 7) })
		const n = preamble + 4
		if res.Blocks != 3 || res.Steps != 3*3*n || res.LaneInstrs != 240*n {
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
			if a.Kind != event.Write || a.Space != event.Global || a.Mask != want || a.Active != want ||
				a.Stored != want || a.Size != 4 {
				t.Fatalf("access %+v", a.Access)
			}
			i := uint64(a.Warp/3)*80 + uint64(a.Warp%3)*32 + 5
			if a.Data[0][5] != i*i+7 {
				t.Errorf("warp %d lane 5 stores %d", a.Warp, a.Data[0][5])
			}
		}
	})
}
