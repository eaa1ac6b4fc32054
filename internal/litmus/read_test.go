package litmus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/memmodel"
)

const mp = `PTX MP
"one text"
"another text"
Prefetch=x
Expect=Ok
{
x = 0; y=-3;
P0:r5=0x10; 1:r0 = 7;
}
 P0@cta 0, gpu 0         | P1@cta 1,cluster 0,gpu 1 ; (* a comment *)
 st.weak x, r5           | LC00:                  ;
 st.release.cta y, 1     | ld.acquire.sys r0, [y] ; // another
                         | bne r0, 1, LC00        ;
 fence.sc.gpu            | atom.acq_rel.gpu.cas r1, x, 0, r0 ;
 membar.gl               | red.relaxed.cluster.add x, 1 ;
 bar.cta.sync 1, r5, 2   | ld r2, -4              ;
 barrier.arrive 2        | goto LC01              ;
 ld.volatile r1, x       | LC01:                  ;
 atom.exch r2, x, 1      | add r2, r2, 1          ;
locations [x; P1:r2;]
~exists (P0:r1 = 1 /\ (not x >= 2 \/ 1:r0 != 3))
`

// TestRead: every construct of the format, once. The expected values are read off the text.
func TestRead(t *testing.T) {
	test, err := Read("mp.litmus", mp)
	if err != nil {
		t.Fatal(err)
	}
	if test.Name != "MP" || test.Doc != "one text\nanother text" || test.Expect.Verdict != "Ok" {
		t.Errorf("header: %q %q %+v", test.Name, test.Doc, test.Expect)
	}
	if len(test.Locations) != 2 || test.Locations[1] != (Location{"y", -3}) {
		t.Errorf("locations %+v", test.Locations)
	}
	p0, p1 := test.Threads[0], test.Threads[1]
	if p0.Position != (memmodel.Position{}) || p1.Position != (memmodel.Position{CTA: 1, GPU: 1}) {
		t.Errorf("positions %+v %+v", p0.Position, p1.Position)
	}
	if p0.Regs[0] != (Register{"r5", 16}) || p1.Regs[0] != (Register{"r0", 7}) {
		t.Errorf("registers %+v %+v", p0.Regs, p1.Regs)
	}
	type facts struct {
		op    Op
		order event.Order
		scope event.Scope
	}
	for i, want := range []facts{
		{Store, event.Weak, event.NoScope}, {Store, event.Release, event.CTA},
		{Fence, event.SeqCst, event.GPU}, {Fence, event.SeqCst, event.GPU}, {op: Bar}, {op: Bar},
		{Load, event.Relaxed, event.Sys}, {Atom, event.Relaxed, event.GPU}} {
		if in := p0.Code[i]; (facts{in.Op, in.Order, in.Scope}) != want {
			t.Errorf("P0, %q: %+v, expected %+v", in.Text, in, want)
		}
	}
	if b := p0.Code[4]; !b.HasCount || b.Count.Value != 2 || !b.Name[1].IsReg || b.Arrive {
		t.Errorf("barrier %+v", b)
	}
	if b := p0.Code[5]; b.HasCount || !b.Arrive || b.Name[0].Value != 2 {
		t.Errorf("arrival %+v", b)
	}
	br := p1.Code[1]
	if br.Op != Branch || br.Cond != Ne || br.Target != 0 || br.Pos != (Pos{13, 28}) {
		t.Errorf("branch %+v", br)
	}
	cas := p1.Code[2]
	if cas.Fn != CAS || cas.A.Value != 0 || !cas.B.IsReg || cas.Order != event.AcqRel {
		t.Errorf("compare-and-swap %+v", cas)
	}
	if red := p1.Code[3]; red.Op != Red || red.Fn != Add || red.Scope != event.Cluster {
		t.Errorf("reduction %+v", red)
	}
	if mov := p1.Code[4]; mov.Op != Compute || mov.Fn != Copy || mov.A.Value != -4 {
		t.Errorf("copy %+v", mov)
	}
	if g := p1.Code[5]; g.Op != Goto || g.Target != 6 {
		t.Errorf("goto %+v", g)
	}
	want := `~exists (P0:r1=1 /\ (~(x>=2) \/ P1:r0!=3))`
	if got := test.Condition.String(); got != want {
		t.Errorf("condition %s, expected %s", got, want)
	}
	if len(test.Observed) != 2 || test.Observed[1].Name != "P1:r2" {
		t.Errorf("observed %+v", test.Observed)
	}
}

// TestConditions: and binds more tightly than or, and comparisons are signed.
func TestConditions(t *testing.T) {
	for cond, want := range map[string]bool{
		`exists (x=0 \/ x=1 /\ x=2)`:             true, // x is 0
		`exists ((x=0 \/ x=1) /\ x=2)`:           false,
		`exists ~(x=1) /\ x>-1 /\ x<1 /\ x<=0`:   true,
		`exists x==0 /\ not (x!=0) /\ [x]>=0`:    true,
		`exists (0=0)`:                           true,
		`exists x>0`:                             false,
		`exists (x=1 \/ (x=0 /\ (x=2 \/ x>-5)))`: true,
	} {
		test, err := Read("c.litmus", "PTX c\n{x=0;}\nP0@cta 0,gpu 0;\n"+cond)
		if err != nil {
			t.Errorf("%s: %v", cond, err)
		} else if got := test.Condition.Expr.Holds(zero{}); got != want {
			t.Errorf("%s: %v in the state x=0, expected %v", cond, got, want)
		}
	}
}

// zero is the state in which all values are 0.
type zero struct{}

func (zero) Value(Term) int64 { return 0 }

// TestErrors: messages say where, what was found and what was expected; what lies outside of the
// fragment is named and is no mistake.
func TestErrors(t *testing.T) {
	program := func(rows string) string {
		return "PTX t\n{x=0; s @ surface aliases x;}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0;\n" + rows + "\n"
	}
	for _, c := range []struct {
		text, want  string
		unsupported bool
	}{
		{"X86 t\n{}", `t:1:1: expected PTX and the name of the test, found "X86"`, false},
		{"PTX t\n", "t:2:1: expected { and the declarations, found the end of the file", false},
		{"PTX t\nwords, \"another tool's {\"\n",
			"t:3:1: expected { and the declarations, found the end of the file", false},
		{"PTX t\nExpect=Maybe\n{}", "t:2:1: Expect=Maybe: expected Ok or No", false},
		{"PTX t\n{x=0; (* open\n}", `t:2:7: the comment that starts here has no "*)"`, false},
		{"PTX t\n{x=}\nP0@cta 0,gpu 0;\nexists x=0", `t:2:4: expected a value, found "}"`, false},
		{"PTX t\n{x=99999999999999999999}\nP0@cta 0,gpu 0;", `t:2:4: "99999999999999999999" is not a ` +
			"number of 64 bits", false},
		{"PTX t\n{x=0}\nP0@warp 0;", `t:3:4: expected "cta", found "warp"`, false},
		{"PTX t\n{x=0}\nP0@cta 0,gpu 0|P0@cta 0,gpu 0;", "t:3:16: P0 has two columns", false},
		{"PTX t\n{P7:r0=1}\nP0@cta 0,gpu 0;", "t:2:2: there is no thread P7", false},
		{"PTX t\n{P0:r0=x}\nP0@cta 0,gpu 0;", "t:2:8: the address of a location in register r0", true},
		{"PTX t\n{x=&y}\nP0@cta 0,gpu 0;", "t:2:4: the address of a location in x", true},
		{program("st.weak x, 1"), `t:5:1: expected "|", found the end of the file`, false},
		{program("st.weak x, 1|;"),
			"t:5:1: expected exists, ~exists or forall, found the end of the file", false},
		{program("st.acquire.gpu x, 1|;"), "t:4:1: st has no order .acquire", false},
		{program("st.weak.gpu x, 1|;"), "t:4:1: a weak st has no scope, found .gpu", false},
		{program("ld.relaxed.gpu x, 1|;"), `t:4:16: expected a register such as r0, found "x"`, false},
		{program("ld.relaxed.gpu.v2 r0, x|;"), "t:4:1: ld has no modifier .v2 here", false},
		{program("ld.relaxed.gpu r0, r1|;"), "t:4:20: the address in register r1", true},
		{program("atom.relaxed.gpu r0, x, 1|;"), "t:4:1: atom has no operation, such as .add", false},
		{program("red.relaxed.gpu.exch x, 1|;"), "t:4:1: red has no operation .exch", false},
		{program("fence.sc|;"), "t:4:1: fence needs a scope, such as .gpu", false},
		{program("membar.gpu|;"), "t:4:1: membar needs .cta, .gl or .sys", false},
		{program("fence.proxy.alias|;"), "t:4:1: a proxy fence, fence.proxy.alias", true},
		{program("sust.weak s, 1|;"), "t:4:1: sust accesses memory through the surface proxy", true},
		{program("st.weak s, 1|;"),
			"t:4:9: s is a surface alias of x; heddle explores one proxy and no aliases", true},
		{program("bar.cta.red 0|;"), "t:4:1: bar without .sync or .arrive", true},
		{program("mov r0, 1|;"), "t:4:1: unknown instruction mov", false},
		{program("goto L|;\nexists x=0"), "t:4:6: P0 has no label L", false},
		{program("L:|;L:|;"), "t:4:5: label L is defined twice in P0", false},
		{program("st.weak x, 1;"), `t:4:13: expected "|", found ";"`, false},
		{program("exists (x=0"), `t:5:1: expected ")", found the end of the file`, false},
		{program("exists r0=0"), "t:4:8: register r0 needs a thread, such as P0:r0", false},
		{program("exists z=0"), "t:4:8: there is no location z", false},
		{program("exists x 0"), "t:4:10: expected a comparison, such as =", false},
		{program("exists x=0 x=1"), `t:4:12: expected the end of the condition, found "x"`, false},
		{program("filter x=0 exists x=0"), `t:4:1: a condition with "filter"`, true},
		{program("exists x=0 $"), `t:4:12: unexpected character '$'`, false},
		{program("exists " + strings.Repeat("(", 300)),
			"t:4:209: the condition is nested more than 200 levels deep", false},
		{strings.Repeat(" ", maxSize+1),
			"t:1:1: the test has 1048577 bytes; at most 1048576 are read", false},
	} {
		_, err := Read("t", c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v, expected %s", c.text, err, c.want)
			continue
		}
		if e.Error() != c.want || e.Unsupported != c.unsupported {
			t.Errorf("%q:\ngot  %v (unsupported %v)\nwant %s (unsupported %v)", c.text, e, e.Unsupported,
				c.want, c.unsupported)
		}
	}
}

// FuzzRead: no text makes the reader panic or return an unusable test.
func FuzzRead(f *testing.F) {
	f.Add(mp)
	files, err := filepath.Glob("../../testdata/litmus/*.litmus")
	if err != nil || len(files) == 0 {
		f.Fatalf("testdata/litmus: %d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		test, err := Read("fuzz", text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 || e.Text == "" {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		for _, th := range test.Threads {
			for _, in := range th.Code {
				if in.Loc < 0 || in.Target < 0 || in.Target > len(th.Code) || in.Pos.Line < 1 {
					t.Errorf("instruction %+v", in)
				}
			}
		}
		for _, term := range Terms(test.Condition.Expr) {
			if term.Thread >= len(test.Threads) || term.Thread < 0 && term.Loc >= len(test.Locations) {
				t.Errorf("term %+v", term)
			}
		}
		_ = test.Condition.String()
	})
}
