package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/internal/litmus"
)

// read reads a litmus test.
func read(t *testing.T, text string) *litmus.Test {
	t.Helper()
	test, err := readTest(text)
	if err != nil {
		t.Fatal(err)
	}
	return test
}

// readTest reads a litmus test.
func readTest(text string) (*litmus.Test, error) { return litmus.Read("test.litmus", text) }

// result explores a litmus test.
func result(t *testing.T, text string, opt Options) *Result {
	t.Helper()
	res, err := Judge(context.Background(), read(t, text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestLitmus: the tests of testdata/litmus are as they expect. Each cites the section of the PTX
// ISA that its expectation follows from.
func TestLitmus(t *testing.T) {
	files, err := filepath.Glob("../../testdata/litmus/*.litmus")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		test := read(t, string(text))
		if test.Expect.Verdict == "" || test.Expect.Race == "" || test.Doc == "" {
			t.Errorf("%s: the verdict, whether there is a race, or the reason is missing", file)
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".litmus"); test.Name != want {
			t.Errorf("%s: the test is called %s", file, test.Name)
		}
		res, err := Judge(context.Background(), test, Options{Unroll: 4})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, d := range res.Differences() {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// TestCounts: numbers of executions that can be counted by hand.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name, text                string
		executions, states, races int
	}{
		// Each of two loads reads the initial value or the store: 4 executions, none excluded.
		{"store buffering", `PTX t
{x=0; y=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;
ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;
exists (P0:r0=0 /\ P1:r0=0)`, 4, 4, 0},
		// The same with fences: 2 orders of the fences, and each excludes that the thread of the second
		// fence reads the initial value. 2 * 2 executions, 3 states.
		{"with fences", `PTX t
{x=0; y=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;
fence.sc.gpu | fence.sc.gpu ;
ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;
exists (P0:r0=0 /\ P1:r0=0)`, 4, 3, 0},
		// Three morally strong stores: 3! coherence orders, and 3 last values.
		{"coherence", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
st.relaxed.gpu x, 1 | st.relaxed.gpu x, 2 | st.relaxed.gpu x, 3 ;
exists x=1`, 6, 3, 0},
		// Three weak stores: one execution, in which no order relates them, and 3 last values. 3 pairs
		// race.
		{"no coherence", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
st.weak x, 1 | st.weak x, 2 | st.weak x, 3 ;
exists x=1`, 1, 3, 3},
		// Three atomics on one location happen in one of 3! orders.
		{"atomics", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 ;
exists x=3`, 6, 1, 0},
		// One of two compare-and-swaps wins, and the other one reads what it wrote.
		{"compare-and-swap", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
atom.relaxed.gpu.cas r0, x, 0, 1 | atom.relaxed.gpu.cas r0, x, 0, 2 ;
exists x=1`, 2, 2, 0},
		// Two of three arrivals complete the barrier, in 3 ways. None of the executions ends.
		{"count", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;
bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 ;
exists x=0`, 3, 0, 0},
		// Four arrivals form 2 pairs in 3 ways; which pair is first makes no difference.
		{"pairs", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 | P3@cta 0,gpu 0 ;
bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 ;
exists x=0`, 3, 1, 0},
		// P0 arrives once at barrier 0, P2 once at barrier 1 and then at 0, P1 at 1 and then at 0.
		// Barrier 1 joins P1 and P2. At barrier 0, any 2 of the three threads meet, and the third
		// waits: P0 with either of the others, or these two.
		{"arrivals that come later", `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;
 | bar.cta.sync 1, 0, 2 | bar.cta.sync 1, 0, 2 ;
bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 ;
exists x=0`, 3, 0, 0},
	} {
		res := result(t, c.text, Options{})
		known := !strings.Contains(c.text, "bar.") && !strings.Contains(c.text, "cas")
		if known && res.Stats.Dead > 0 {
			t.Errorf("%s: %d dead ends, where all writes are known", c.name, res.Stats.Dead)
		}
		got := [3]int{res.Stats.Executions, len(res.States), len(res.Races)}
		if want := [3]int{c.executions, c.states, c.races}; got != want {
			t.Errorf("%s: executions, states and races are %v, expected %v", c.name, got, want)
		}
	}
}

const endless = `PTX t
{x=0; y=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
L: | ;
add r0, r0, 1 | ;
st.relaxed.gpu x, r0 | ld.relaxed.gpu r0, x ;
ld.relaxed.gpu r1, y | ;
bne r1, 1, L | ;
`

// TestBounds: what was not explored is never counted as absent.
func TestBounds(t *testing.T) {
	// The loop stores in each iteration, so that it is cut off; larger values of x may exist.
	res := result(t, endless+"exists P1:r0=100", Options{Unroll: 2})
	if res.Verdict != Unknown || res.Stats.Truncated == 0 {
		t.Errorf("verdict %v with %d executions cut off, expected Unknown", res.Verdict,
			res.Stats.Truncated)
	}
	// No thread ends, so there is no final state, whatever the bound.
	if res = result(t, endless+"forall x=0", Options{Unroll: 2}); res.Verdict != Unknown {
		t.Errorf("verdict %v, expected Unknown", res.Verdict)
	}
	const sb = "PTX t\n{x=0;}\nP0@cta 0,gpu 0|P1@cta 1,gpu 0;\n" +
		"st.relaxed.gpu x,1|st.relaxed.gpu x,2;\n"
	res = result(t, sb+"exists x=3", Options{MaxGraphs: 1})
	if res.Verdict != Unknown || !res.Stats.Stopped {
		t.Errorf("verdict %v after one of two executions, expected Unknown", res.Verdict)
	}
	// A state that was found decides, however many others there are.
	if res = result(t, sb+"exists (x=1 \\/ x=2)", Options{MaxGraphs: 1}); res.Verdict != Ok {
		t.Errorf("verdict %v, expected Ok", res.Verdict)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	res, err := Judge(ctx, read(t, sb+"exists x=3"), Options{})
	if err == nil || res.Verdict != Unknown {
		t.Errorf("verdict %v and error %v after the time is up, expected Unknown and an error",
			res.Verdict, err)
	}
}

// TestStopped: a state, a race or a hang that was found decides, and what was not found is unknown,
// if not everything was explored.
func TestStopped(t *testing.T) {
	const sb = "PTX t\nRace=no\nHang=no\n{x=0;}\nP0@cta 0,gpu 0|P1@cta 1,gpu 0;\n" +
		"st.relaxed.gpu x,1|st.relaxed.gpu x,2;\n"
	for cond, want := range map[string]Verdict{
		"~exists (x=1 \\/ x=2)": No, "~exists x=3": Unknown, "forall x=3": No, "forall x>0": Unknown,
	} {
		res := result(t, sb+cond, Options{MaxGraphs: 1})
		if res.Verdict != want {
			t.Errorf("%s: %v after one of two executions, expected %v", cond, res.Verdict, want)
		}
		got := strings.Join(res.Differences(), "; ")
		if got != "expected Race=no, found unknown; expected Hang=no, found unknown" {
			t.Errorf("%s: differences %q", cond, got)
		}
	}
	if got := result(t, sb+"forall x>0", Options{}).Differences(); len(got) > 0 {
		t.Errorf("differences %q after all executions", got)
	}
	res := result(t, "PTX t\nRace=no\n"+strings.TrimPrefix(endless, "PTX t\n")+"exists x=0",
		Options{Unroll: 2})
	if got := res.Differences(); len(got) != 1 || got[0] != "expected Race=no, found unknown" {
		t.Errorf("differences %q with a loop that was cut off", got)
	}
}

// TestObserved: what a test lists besides its condition belongs to a final state.
func TestObserved(t *testing.T) {
	res := result(t, "PTX t\n{x=0; y=0;}\nP0@cta 0,gpu 0;\nst.weak x,1;\nst.weak y,2;\n"+
		"locations [y; x;]\nexists x=1", Options{})
	if len(res.States) != 1 || res.States[0].String() != "x=1 y=2" {
		t.Errorf("states %v, expected x=1 y=2", res.States)
	}
}

// TestLimits: programs that cannot be explored say why.
func TestLimits(t *testing.T) {
	head := "PTX t\n{x=0;}\nP0@cta 0,gpu 0|P1@cta 0,gpu 0;\n"
	for text, want := range map[string]string{
		"div r0, 1, 0|;": "division by zero",
		"bar.cta.sync 0,0,1|;bar.cta.sync 0,0,0|;":                       "a barrier for 0 threads",
		"bar.cta.sync 0,0,1|bar.cta.sync 0,0,2;":                         "different counts",
		"bar.cta.arrive 0|bar.cta.sync 1;bar.cta.sync 0|bar.cta.sync 0;": "twice before it completes",
		strings.Repeat("st.weak x,1|;", 4200):                            "more than 4096",
	} {
		_, err := Judge(context.Background(), read(t, head+text+"\nexists x=0"), Options{})
		var limit *LimitError
		if !errors.As(err, &limit) || !strings.Contains(limit.Reason, want) {
			t.Errorf("%s: error %v, expected one with %q", text, err, want)
		}
	}
}

// TestIdle: an iteration that only waits is not repeated, and one that does more is.
func TestIdle(t *testing.T) {
	head := "PTX t\n{x=0; y=0;}\nP0@cta 0,gpu 0|P1@cta 1,gpu 0;\n"
	for _, c := range []struct {
		name, rows string
		want       Stats
	}{
		// The load reads 1, or 0 and the loop never ends: that is a part of the other execution, since
		// 0 is not the last value.
		{"load", "L:|st.relaxed.gpu x,1;ld.relaxed.gpu r0,x|;bne r0,1,L|;",
			Stats{Executions: 2, Complete: 1}},
		// The same with a compare-and-swap, which fails or reads 1, and a fence in the loop.
		{"compare-and-swap", "L:|st.relaxed.gpu x,1;atom.relaxed.gpu.cas r0,x,1,2|;" +
			"fence.acq_rel.gpu|;bne r0,1,L|;", Stats{Executions: 2, Complete: 1}},
		// What is computed in the loop and nowhere else makes no difference.
		{"computed", "L:|st.relaxed.gpu x,1;ld.relaxed.gpu r0,x|;add r1,r0,1|;bne r1,2,L|;" +
			"ld r1,0|;", Stats{Executions: 2, Complete: 1}},
		// An exchange that reads the initial value ends the loop, and the store follows it (8.10.3).
		// One that reads the store leaves memory as it was, and nobody will store 0.
		{"exchange", "L:|st.relaxed.gpu x,1;atom.relaxed.gpu.exch r0,x,1|;bne r0,0,L|;",
			Stats{Executions: 2, Complete: 1}},
		// If a weak store may fall between, what was left out counts as cut off.
		{"weak store", "L:|st.weak x,1;atom.relaxed.gpu.exch r0,x,1|;bne r0,0,L|;",
			Stats{Executions: 2, Complete: 1, Truncated: 1}},
		// A counter that is used later makes iterations different: 0 to 3 of them read 0, and the bound
		// ends the last one.
		{"counter", "L:|st.relaxed.gpu x,1;add r1,r1,1|;ld.relaxed.gpu r0,x|;bne r0,1,L|;",
			Stats{Executions: 4, Complete: 3, Truncated: 1}},
	} {
		res := result(t, head+c.rows+"\nexists x=1", Options{Unroll: 2})
		got := Stats{Executions: res.Stats.Executions, Complete: res.Stats.Complete,
			Truncated: res.Stats.Truncated}
		if got != c.want {
			t.Errorf("%s: %+v, expected %+v", c.name, got, c.want)
		}
	}
}

// TestTrips: a loop that no read decides is executed as often as the program says, whatever the
// bound for others; one that goes on without an access is a hang, and one without an end is
// refused.
func TestTrips(t *testing.T) {
	head := "PTX t\n{x=0;}\nP0@cta 0,gpu 0;\n"
	res := result(t, head+"L:;add r0,r0,1;bne r0,10,L;st.weak x,r0;\nforall x=10", Options{})
	if res.Verdict != Ok || res.Stats.Truncated != 0 || res.Stats.Executions != 1 {
		t.Errorf("verdict %v, %+v, expected Ok in one execution", res.Verdict, res.Stats)
	}
	if res = result(t, head+"L:;goto L;\nexists x=0", Options{}); res.Hang == nil {
		t.Error("an empty loop without an end is no hang")
	}
	test := read(t, head+"L:;add r0,r0,1;goto L;\nexists x=0")
	var limit *LimitError
	_, err := Judge(context.Background(), test, Options{})
	if !errors.As(err, &limit) || !strings.Contains(limit.Reason, "more than 100000 iterations") {
		t.Errorf("error %v, expected one about the iterations", err)
	}
}

// TestShow: the execution that decides a condition, as text.
func TestShow(t *testing.T) {
	res := result(t, `PTX t
{x=0; y=0;}
P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
st.weak x, 1 | ld.weak r0, x ;
bar.cta.sync 0 | ;
exists P1:r0=1`, Options{})
	var b strings.Builder
	res.Decisive().Example.Show(&b, "")
	const want = `P0  st.weak x, 1    writes 1
P0  bar.cta.sync 0  completes with generation 1
P1  ld.weak r0, x   reads 1 from P0 at 4:1
`
	if b.String() != want {
		t.Errorf("got\n%sexpected\n%s", b.String(), want)
	}
	if why := res.Races[0].Why(); why != "the access of P0 is weak" {
		t.Errorf("the race is explained by %q", why)
	}
}

// TestManyEvents: an execution may have hundreds of events. Two threads hand a counter back and
// forth by release and acquire; each order and each value is determined, so that there is one
// execution, without a race.
func TestManyEvents(t *testing.T) {
	const rounds = 60
	var a, b []string
	for i := range rounds {
		wait := func(l, n int) string {
			return fmt.Sprintf("W%d: ; ld.acquire.gpu r0, y; bne r0, %d, W%d", l, n, l)
		}
		a = append(a, fmt.Sprintf("st.weak x, %d; st.release.gpu y, %d", i, 2*i+1), wait(i, 2*i+2))
		b = append(b, wait(i, 2*i+1), fmt.Sprintf("ld.weak r1, x; st.release.gpu y, %d", 2*i+2))
	}
	rep, err := Survey(t.Context(), two(t, "x=0; y=0;", strings.Join(a, ";"), strings.Join(b, ";")),
		Options{Unroll: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Stats.Complete != 1 || len(rep.Races) > 0 {
		t.Errorf("%d complete executions, %d races; expected 1 and none", rep.Stats.Complete,
			len(rep.Races))
	}
}
