package bugreport

import (
	"slices"
	"strings"
	"testing"
)

// Two panics as package main prints them: of the goroutine of the command, and of a worker of the
// driver, whose stack is in the message. What follows "guarded" is not heddle's failure.
const (
	direct = `heddle: internal error: runtime error: index out of range [4] with length 2
This is a bug in heddle, not in your code.
  heddle check k.ptx
heddle v1 go1.26 linux/amd64

goroutine 1 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
main.guarded.func1()
	/src/main.go:62 +0x74
panic({0x10a3d60?, 0x13c1180?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
runtime.panicIndex(0x1)
	/usr/local/go/src/runtime/panic.go:1 +0x13a
heddle/internal/ir.(*Func).at(0xc000, {0x1, 0x2})
	/src/ir.go:3 +0x1
main.guarded({0x1, 0x2}, {0x3, 0x4}, 0x0?)
	/src/main.go:66 +0x7f
main.main()
	/src/main.go:33 +0x7f
`
	worker = `heddle: internal error: no rule for f(x)
goroutine 34 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
heddle/internal/driver.(*crash).keep(0xc0001)
	/src/parallel.go:56 +0x74
panic({0x10a3d60?, 0x13c1180?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
heddle/internal/emu.one(...)
	/src/a.go:3 +0x1
heddle/internal/emu.two()
	/src/a.go:3 +0x1
heddle/internal/emu.three[...](0x1)
	/src/a.go:3 +0x1
heddle/internal/emu.four()
	/src/a.go:3 +0x1

This is a bug in heddle, not in your code.

goroutine 1 [running]:
panic({0x10a3d60?, 0x13c1180?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
heddle/internal/driver.(*crash).raise(0xc0001)
	/src/parallel.go:64 +0x74
`
)

func TestCrash(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"k.ptx:1:1: error: found x", nil},
		{direct, []string{"heddle/internal/ir.(*Func).at"}},
		{worker, []string{"heddle/internal/emu.one", "heddle/internal/emu.two",
			"heddle/internal/emu.three[...]"}},
	} {
		if got := crash([]byte(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("frames %q, want %q", got, c.want)
		}
	}
	if text, ok := goError([]byte(direct)); !ok || !strings.HasPrefix(text, "runtime error: index") {
		t.Errorf("message %q", text)
	}
	if text, ok := goError([]byte(worker)); ok {
		t.Errorf("the message %q of heddle may have names", text)
	}
}

// The facts of an outcome are those of its kernels, apart from those about the input.
func TestReadFacts(t *testing.T) {
	const race = `{"type":"finding","code":"race-shared","severity":"error","kernel":"k(int)",`
	out := `{"type":"finding","code":"launch","severity":"note"}
` + race + `"witness":{"level":"intra-block","first":{"kind":"write"},"second":{"kind":"read"}}}
` + race + `"witness":{"level":"inter-block","first":{"kind":"write"},"second":{"kind":"write"}}}
not JSON
{"type":"verdict","verdict":"bug","kernel":"k(int)"}
{"type":"fix","kernel":"f","status":"not repaired","why":"no place",` +
		`"findings":[{"type":"finding","code":"trap","severity":"error"}]}
`
	list := readFacts(Outcome{Stdout: []byte(out)})
	if len(list) != 3 || len(list[0].Codes) != 0 {
		t.Fatalf("%+v", list)
	}
	k, f := list[1], list[2]
	if k.Verdict != "bug" || !slices.Equal(k.Codes, []string{"race-shared"}) ||
		!slices.Equal(k.Details, []string{"intra-block read write"}) {
		t.Errorf("%+v", k)
	}
	if f.Verdict != "not repaired" || f.Reason != "no place" ||
		!slices.Equal(f.Codes, []string{"trap"}) {
		t.Errorf("%+v", f)
	}
}

// A reason keeps its shape under other names and numbers, and no other opcode has it.
func TestShape(t *testing.T) {
	named := func(list ...string) func(string) bool {
		return func(w string) bool { return slices.Contains(list, w) }
	}
	one := shape("call of foo, which has no body, for `a[i]` and 32 threads", named("foo"))
	two := shape("call of bar, which has no body, for `b[j]` and 7 threads", named("bar"))
	if one != two {
		t.Errorf("%q and %q differ", one, two)
	}
	if shape("mbarrier.init.shared.b64 is not supported", named()) ==
		shape("cp.async.bulk is not supported", named()) {
		t.Error("two opcodes have one shape")
	}
}

// What is interesting holds for equal facts, and for no other verdict, finding or panic.
func TestInterest(t *testing.T) {
	none := func(string) bool { return false }
	bug := Facts{Verdict: "bug", Codes: []string{"trap", "race-shared"}, Details: []string{"", "a"}}
	for _, c := range []struct {
		interest Interest
		facts    Facts
		want     bool
	}{
		{Interest{Verdict: "bug", Code: "race-shared", Detail: "a"}, bug, true},
		{Interest{Verdict: "bug", Code: "race-shared", Detail: "b"}, bug, false},
		{Interest{Code: "trap"}, bug, true},
		{Interest{Verdict: "bug", Code: "race-global"}, bug, false},
		{Interest{Verdict: "unknown"}, bug, false},
		{Interest{Verdict: "bug"}, Facts{Verdict: "bug", Crash: []string{"f"}}, false},
		{Interest{Crash: []string{"f"}}, Facts{Crash: []string{"f"}}, true},
		{Interest{Crash: []string{"f"}}, Facts{Crash: []string{"g"}}, false},
		{Interest{Verdict: "unknown", reason: "a"}, Facts{Verdict: "unknown", Reason: "b"}, false},
	} {
		if got := c.interest.holds(c.facts, none); got != c.want {
			t.Errorf("%+v of %+v: %v", c.interest, c.facts, got)
		}
	}
}

// The line of a report has flags whose values are numbers and words of heddle, and no others.
func TestAnonymous(t *testing.T) {
	line := Line{Command: "check", Inputs: []string{"secret.cu", "secret/dir"}, Flags: []Flag{
		{"grid", "4", false}, {"define", "SECRET=1", false}, {"only-intra-block", "true", true},
		{"arg", "secret=zero:4", false}, {"arg", "b=alias:secret", false},
		{"assume", "secret < 4", false},
	}}
	const want = "heddle check --grid=4 --define=(left out) --only-intra-block " +
		"'--arg=(parameter)=zero:4' --arg=(left out) --assume=(left out) input0.cu input1"
	if got := line.anonymous(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
