package reduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

// examined is what heddle says about a candidate.
type examined struct {
	codes    []diag.Code
	verdicts []diag.Verdict
}

// examine asks heddle about a candidate, with few steps.
func examine(ctx context.Context, c *Candidate, mode check.Mode) (e examined) {
	opt := check.Options{Mode: mode}
	opt.Kernel, opt.MaxSteps, opt.Run.Seeds = c.Launch.Kernel, 20_000, 1
	opt.Launch = launch.Request{Grid: c.Launch.Grid, Block: c.Launch.Block, Args: c.Launch.Args}
	in := driver.Input{Input: lower.Input{Name: fileName, Content: c.Text, Lang: lower.PTX}}
	sum, err := check.Inputs(ctx, opt, []driver.Input{in}, func(d diag.Diagnostic) {
		e.codes = append(e.codes, d.Code)
	})
	if err == nil {
		e.verdicts = sum.Verdicts
	}
	return e
}

// finds is the property that a run reports a code.
func finds(code diag.Code) Property {
	return func(ctx context.Context, c *Candidate) bool {
		return slices.Contains(examine(ctx, c, check.Run).codes, code)
	}
}

// dim is a size in one dimension.
func dim(n uint32) *event.Dim3 { return &event.Dim3{X: n, Y: 1, Z: 1} }

// args are arguments of a launch.
func args(t *testing.T, list ...string) []launch.ArgSpec {
	t.Helper()
	var out []launch.ArgSpec
	for _, s := range list {
		a, err := launch.ParseArg(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// parse reads a program of a test.
func parse(t *testing.T, text string, l Launch) *Candidate {
	t.Helper()
	c, err := Parse([]byte(text), l)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reduced reduces a program and checks what every reduction promises.
func reduced(t *testing.T, c *Candidate, holds Property, opt Options) *Result {
	t.Helper()
	res, err := Reduce(t.Context(), c, holds, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !holds(t.Context(), res.Candidate) {
		t.Fatalf("the result has not the property:\n%s", res.Text)
	}
	if res.Instructions() > c.Instructions() {
		t.Errorf("%d instructions became %d", c.Instructions(), res.Instructions())
	}
	if opt.Attempts > 0 && res.Attempts > opt.Attempts {
		t.Errorf("%d attempts, at most %d are allowed", res.Attempts, opt.Attempts)
	}
	if res.Minimal && !opt.Tidy {
		for i := range passes {
			for _, e := range passes[i].find(res.Candidate) {
				if d := res.with([]edit{e}); d != nil && holds(t.Context(), d) {
					t.Errorf("called minimal, but an edit of %s is left in\n%s", passes[i].name, res.Text)
				}
			}
		}
	}
	return res
}

const head = ".version 8.3\n.target sm_80\n.address_size 64\n"

// racyKernel has a race on shared memory between neighbours, behind arithmetic and a loop that have
// nothing to do with it: 31 instructions and the padding.
func racyKernel(padding int) string {
	var pad strings.Builder
	for i := range padding {
		fmt.Fprintf(&pad, "\tfma.rn.f32 %%f%d, %%f1, %%f2, %%f%d;\n", 4+i%3, 4+(i+1)%3)
	}
	return head + `
.visible .entry secretKernel(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<20>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<20>;
	.shared .align 4 .b8 secretTile[256];
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [n];
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra $done;
	mul.wide.s32 %rd5, %r5, 4;
	add.s64 %rd6, %rd3, %rd5;
	ld.global.f32 %f1, [%rd6];
	mov.f32 %f2, 0f00000000;
	mov.u32 %r6, 0;
$again:
	fma.rn.f32 %f2, %f1, %f1, %f2;
	add.s32 %r6, %r6, 1;
	setp.lt.s32 %p2, %r6, 8;
	@%p2 bra $again;
` + pad.String() + `
	mov.u64 %rd7, secretTile;
	mul.wide.u32 %rd8, %r4, 4;
	add.s64 %rd9, %rd7, %rd8;
	st.shared.f32 [%rd9], %f2;
	xor.b32 %r7, %r4, 1;
	mul.wide.u32 %rd10, %r7, 4;
	add.s64 %rd11, %rd7, %rd10;
	ld.shared.f32 %f3, [%rd11];
	add.s64 %rd12, %rd4, %rd5;
	st.global.f32 [%rd12], %f3;
$done:
	ret;
}

.visible .entry bystander()
{
	bar.sync 0;
	ret;
}
`
}

// A race on shared memory needs two accesses, two threads, and an instruction that names the array,
// since PTX has no other access to the array than through its address: three instructions.
func TestRace(t *testing.T) {
	c := parse(t, racyKernel(29), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64),
		Args: args(t, "0=zero", "1=zero", "2=128")})
	if n := c.Instructions(); n != 62 { // 60 of the kernel and 2 of the bystander
		t.Fatalf("%d instructions", n)
	}
	res := reduced(t, c, finds(diag.CodeRaceShared), Options{})
	if n := res.Instructions(); n > 3 || !res.Minimal {
		t.Errorf("%d instructions, minimal %v:\n%s", n, res.Minimal, res.Text)
	}
	const want = "--kernel secretKernel --grid 1 --block 2"
	if words := strings.Join(res.Launch.Words(), " "); words != want {
		t.Errorf("launch %s", words)
	}
	for _, gone := range []string{".param", "bystander", "$done", "%p", "256"} {
		if strings.Contains(string(res.Text), gone) {
			t.Errorf("%s is left in\n%s", gone, res.Text)
		}
	}
}

// Barrier divergence: a barrier, and a guard or branch that depends on the thread. A barrier cannot
// be reached by some threads only without an instruction that reads the thread's index, a
// comparison, and a branch or guard: four instructions, or three if the barrier has the guard.
func TestDivergence(t *testing.T) {
	text := head + `
.entry k(.param .u32 n)
{
	.reg .pred p, q;
	.reg .b32 a, b, c, d;
	ld.param.u32 a, [n];
	mov.u32 b, %tid.x;
	mov.u32 c, %ntid.x;
	shr.u32 d, c, 1;
	setp.lt.u32 p, b, d;
	setp.gt.u32 q, a, 5;
	@q bra $skip;
	@!p bra $end;
	bar.sync 0;
	add.s32 a, a, 1;
$skip:
	bar.sync 0;
$end:
	ret;
}
`
	c := parse(t, text, Launch{Kernel: "k", Grid: dim(1), Block: dim(64), Args: args(t, "0=3")})
	res := reduced(t, c, finds(diag.CodeBarrierDivergence), Options{})
	if n := res.Instructions(); n > 4 || !res.Minimal {
		t.Errorf("%d instructions:\n%s", n, res.Text)
	}
}

// A verdict for one opcode needs that instruction and one thread.
func TestUnsupported(t *testing.T) {
	text := head + `
.entry k(.param .u64 n)
{
	.reg .pred p;
	.reg .b64 a, b;
	.reg .b32 i;
	.shared .align 8 .b64 bar[2];
	mov.u32 i, %tid.x;
	setp.ne.u32 p, i, 0;
	mov.u64 a, bar;
	@p bra $L;
	fma.rn.oob.f16x2 i, i, i, i;
$L:
	bar.sync 0;
	ret;
}
`
	holds := func(ctx context.Context, c *Candidate) bool {
		e := examine(ctx, c, check.Run)
		return len(e.verdicts) == 1 && e.verdicts[0].Kind == diag.Unsupported &&
			strings.Contains(e.verdicts[0].Reason, "fma.rn.oob")
	}
	c := parse(t, text, Launch{Kernel: "k", Grid: dim(4), Block: dim(32)})
	res := reduced(t, c, holds, Options{})
	if res.Instructions() != 1 || res.Launch.Grid != nil && res.Launch.Grid.Count() > 1 ||
		res.Launch.Block.Count() > 1 {
		t.Errorf("launch %v:\n%s", res.Launch.Words(), res.Text)
	}
}

// crashes is a property of a fault that a test injects: an engine that panics where an xor follows
// a mad in the same function.
func crashes(_ context.Context, c *Candidate) (crashed bool) {
	defer func() { crashed = recover() != nil }()
	for _, f := range c.functions() {
		mad := false
		for _, in := range c.instructions(f) {
			mad = mad || in.Opcode() == "mad"
			if mad && in.Opcode() == "xor" {
				panic("no rule for xor after mad")
			}
		}
	}
	return false
}

// A panic on a pair of opcodes needs the two.
func TestPanic(t *testing.T) {
	c := parse(t, racyKernel(29), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64)})
	res := reduced(t, c, crashes, Options{})
	if res.Instructions() != 2 || !res.Minimal || len(res.Launch.Words()) != 6 {
		t.Errorf("launch %v:\n%s", res.Launch.Words(), res.Text)
	}
}

// An attempt is the only measure of the budget, so a smaller budget gives a prefix of the same
// reduction.
func TestBudget(t *testing.T) {
	c := parse(t, racyKernel(29), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64)})
	last := c.Instructions()
	for _, n := range []int{1, 2, 5, 20, 60} {
		res := reduced(t, c, finds(diag.CodeRaceShared), Options{Attempts: n})
		if res.Minimal && n < 20 || res.Instructions() > last {
			t.Errorf("%d attempts: minimal %v:\n%s", n, res.Minimal, res.Text)
		}
		last = res.Instructions()
	}
}

// A reduction that is interrupted returns what it has.
func TestInterrupted(t *testing.T) {
	c := parse(t, racyKernel(29), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64)})
	ctx, cancel := context.WithCancel(t.Context())
	holds := finds(diag.CodeRaceShared)
	res, err := Reduce(ctx, c, holds, Options{Progress: func(n int, _ *Candidate) {
		if n == 12 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Minimal || res.Attempts > 12 || res.Instructions() >= c.Instructions() ||
		!holds(t.Context(), res.Candidate) {
		t.Errorf("minimal %v after %d attempts:\n%s", res.Minimal, res.Attempts, res.Text)
	}
	if _, err := Reduce(ctx, c, holds, Options{}); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	// What an engine says when it was stopped does not count.
	ctx, cancel = context.WithCancel(t.Context())
	calls := 0
	res, err = Reduce(ctx, c, func(context.Context, *Candidate) bool {
		if calls++; calls == 2 {
			cancel()
		}
		return true
	}, Options{})
	if err != nil || string(res.Text) != string(c.Text) {
		t.Errorf("error %v:\n%s", err, res.Text)
	}
}

// The same program is reduced in the same way.
func TestDeterministic(t *testing.T) {
	c := parse(t, racyKernel(4), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64)})
	one := reduced(t, c, finds(diag.CodeRaceShared), Options{})
	two := reduced(t, c, finds(diag.CodeRaceShared), Options{})
	if string(one.Text) != string(two.Text) || one.Attempts != two.Attempts {
		t.Errorf("%d and %d attempts", one.Attempts, two.Attempts)
	}
}

func TestNotThere(t *testing.T) {
	c := parse(t, racyKernel(0), Launch{Kernel: "bystander"})
	if _, err := Reduce(t.Context(), c, finds(diag.CodeRaceShared), Options{}); err != ErrNotThere {
		t.Errorf("error %v", err)
	}
}

// Tidy keeps what the kernel does: all instructions and the launch.
func TestTidy(t *testing.T) {
	c := parse(t, racyKernel(4), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64)})
	holds := func(_ context.Context, c *Candidate) bool {
		return strings.Contains(string(c.Text), "secretKernel")
	}
	res := reduced(t, c, holds, Options{Tidy: true})
	if res.Instructions() != c.Instructions()-2 || res.Launch.Block.X != 64 {
		t.Errorf("%d of %d instructions:\n%s", res.Instructions(), c.Instructions(), res.Text)
	}
}

// Without the first parameters, what is left of the launch and of heddle's facts names the same
// parameter as before. The property needs the launch to be valid: heddle rejects an argument for a
// parameter that the kernel lacks.
func TestParameters(t *testing.T) {
	text := head + `
// heddle.kernel k 1 1 a.cu
// heddle.param k 0 first val i32
// heddle.param k 1 second val i32
// heddle.param k 2 third ptr ptr
.entry k(.param .u32 a, .param .u32 b, .param .u64 c)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [c];
	st.global.u32 [%rd1+4], 1;
	ret;
}
`
	c := parse(t, text, Launch{Kernel: "k", Grid: dim(1), Block: dim(1),
		Args: args(t, "0=5", "1=6", "2=zero:4")})
	holds := func(ctx context.Context, c *Candidate) bool {
		return strings.Contains(string(c.Text), "st.global.u32 [%rd1") &&
			strings.Contains(string(c.Text), "[c]") && finds(diag.CodeOutOfBounds)(ctx, c)
	}
	res := reduced(t, c, holds, Options{})
	const want = "--kernel k --grid 1 --block 1 --arg 0=zero:4"
	if got := strings.Join(res.Launch.Words(), " "); got != want {
		t.Errorf("launch %s:\n%s", got, res.Text)
	}
	if n := res.Instructions(); n != 2 || strings.Contains(string(res.Text), ".u32 a") {
		t.Errorf("%d instructions:\n%s", n, res.Text)
	}
}

// Each argument becomes as small as the property allows. What is expected follows from the list in
// Launch.smaller: numbers go down to the least one that holds, buffers and bytes are halved.
func TestLaunch(t *testing.T) {
	for _, c := range []struct{ start, keeps, want string }{
		{"0=1000", "0=", "0=0"},
		{"0=hex:0102030405060708", "0=hex:0102", "0=hex:0102"},
		{"0=hex:01x16,0203,04x8...", "0=hex:01", "0=hex:01x16..."},
		{"0=random:4096", "0=", "0=zero:4"},
		{"0=file:/secret/data", "0=", "0=zero"},
		{"0=5", "", ""},
	} {
		l := Launch{Grid: dim(100), Block: &event.Dim3{X: 16, Y: 8, Z: 2}, Cluster: dim(2),
			Args: args(t, c.start)}
		size := uint32(4096)
		l.Shared = &size
		holds := func(_ context.Context, x *Candidate) bool {
			words := strings.Join(x.Launch.Words(), " ")
			return strings.Contains(words, c.keeps) && x.Launch.Block.Count() >= 33 &&
				x.Launch.Shared != nil && *x.Launch.Shared >= 100
		}
		res := reduced(t, parse(t, head, l), holds, Options{})
		got := ""
		if len(res.Launch.Args) > 0 {
			got = res.Launch.Args[0].String()
		}
		if got != c.want || res.Launch.Cluster != nil || res.Launch.Grid.Count() != 1 ||
			*res.Launch.Shared != 128 || res.Launch.Block.Count() > 64 {
			t.Errorf("%s became %v, want %q", c.start, res.Launch.Words(), c.want)
		}
	}
}

// A function loses its parameters together with the arguments of its calls, or goes with them.
func TestCalls(t *testing.T) {
	text := head + `
.func (.reg .b32 r) twice(.reg .b32 a, .reg .b32 unused)
{
	add.s32 r, a, a;
	ret;
}
.func idle() { ret; }
.entry k()
{
	.reg .b32 x;
	mov.u32 x, %tid.x;
	call (x), twice, (x, 7);
	call idle;
	trap;
}
`
	c := parse(t, text, Launch{Kernel: "k", Grid: dim(1), Block: dim(1)})
	called := func(ctx context.Context, c *Candidate) bool {
		return strings.Contains(string(c.Text), "call (x), twice") && finds(diag.CodeTrap)(ctx, c)
	}
	res := reduced(t, c, called, Options{})
	for _, gone := range []string{"unused", "idle", "add.s32", "7)"} {
		if strings.Contains(string(res.Text), gone) {
			t.Errorf("%s is left in\n%s", gone, res.Text)
		}
	}
	res = reduced(t, c, finds(diag.CodeTrap), Options{})
	if res.Instructions() != 1 || strings.Contains(string(res.Text), ".func") {
		t.Errorf("more than trap is left:\n%s", res.Text)
	}
}

// Edits that contain each other are one; edits that overlap otherwise are none.
func TestOverlap(t *testing.T) {
	c := parse(t, head, Launch{})
	at := strings.Index(head, ".address")
	d := c.apply([]change{{start: at, end: at + 16}, {start: at + 2, end: at + 5}}, c.Launch)
	if d == nil || strings.Contains(string(d.Text), ".address") {
		t.Error("a change within another one is not covered by it")
	}
	// The first of these alone would have one.
	target := strings.Index(head, ".target")
	crossing := []change{{start: target, end: at}, {start: target + 2, end: at + 16}}
	if c.apply(crossing, c.Launch) != nil {
		t.Error("overlapping changes have a result")
	}
}

// The memory of a saved launch becomes smaller where the property allows it: one byte and one
// pointer decide here. The bytes of the parameters stay, so that the kernel keeps its parameters.
func TestSavedMemory(t *testing.T) {
	data := make([]byte, 100)
	for i := range data {
		data[i] = byte(i + 1)
	}
	pointers := []launch.SavedPointer{{Offset: 8, Buffer: 1}}
	saved := &launch.Saved{Kernel: "k", Demangled: "k", Grid: *dim(4), Block: *dim(32),
		Params: make([]byte, 16), Buffers: []launch.SavedBuffer{
			{Name: "a", Size: 200, Data: data, Pointers: pointers},
			{Name: "b", Size: 200, Data: data, Pointers: pointers}, {Name: "c", Size: 8, Data: data[:8]}}}
	text := head + ".entry k(.param .u64 a, .param .u64 b) { ret; }\n"
	c := parse(t, text, Launch{Kernel: "k", Grid: dim(4), Saved: saved})
	res := reduced(t, c, func(_ context.Context, c *Candidate) bool {
		s := c.Launch.Saved
		return len(c.functions()) == 1 && s != nil && len(s.Buffers[0].Data) > 37 && s.Buffers[0].Data[37] == 38 &&
			len(s.Buffers[1].Pointers) == 1
	}, Options{})
	s := res.Launch.Saved
	want := append(make([]byte, 37), 38)
	if !slices.Equal(s.Buffers[0].Data, want) || len(s.Buffers[0].Pointers) > 0 {
		t.Errorf("the first buffer has %v and %v", s.Buffers[0].Data, s.Buffers[0].Pointers)
	}
	if len(s.Buffers[1].Data)+len(s.Buffers[2].Data) > 0 || len(s.Buffers[1].Pointers) != 1 {
		t.Errorf("the others have %+v", s.Buffers[1:])
	}
	if got := len(res.functions()[0].Params); got != 2 || !res.Minimal || *res.Launch.Grid != *dim(1) {
		t.Errorf("%d parameters, grid %v, minimal %v", got, res.Launch.Grid, res.Minimal)
	}
	if len(saved.Buffers[0].Data) != 100 || len(saved.Buffers[0].Pointers) != 1 {
		t.Error("the launch of the first candidate has changed")
	}
}

// A saved launch goes where the launch without it has the property, and then parameters may go, too.
func TestSavedNotNeeded(t *testing.T) {
	saved := &launch.Saved{Kernel: "k", Demangled: "k", Params: make([]byte, 8)}
	c := parse(t, head+".entry k(.param .u64 a) { ret; }\n", Launch{Kernel: "k", Saved: saved})
	res := reduced(t, c, func(_ context.Context, c *Candidate) bool {
		return len(c.functions()) == 1
	}, Options{})
	if res.Launch.Saved != nil || len(res.functions()[0].Params) != 0 {
		t.Errorf("%+v of\n%s", res.Launch, res.Text)
	}
}
