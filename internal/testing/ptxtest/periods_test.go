package ptxtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/run"
	"heddle/internal/source"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/long"
)

// verdictOf returns the verdict on the kernel of a text, by a trace or by runs.
func verdictOf(t *testing.T, text string, mode check.Mode, seeds int) diag.Verdict {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	opt := check.Options{Mode: mode, SkipProof: true, Run: run.Options{Seeds: seeds}}
	opt.Files, opt.MaxSteps = source.NewSet(), 2_000_000
	sum, err := check.Files(t.Context(), opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Verdicts) != 1 {
		t.Fatalf("%d verdicts\n%s", len(sum.Verdicts), text)
	}
	return sum.Verdicts[0]
}

// TestAnyNumberOfRounds compares the verdicts on random rings for any number of rounds with those
// for single numbers, by traces and by runs in several schedules: a ring that is verified for all
// must be right for each. Numbers below that of the stages, around the periods and far above them
// are among them. All right rings must be verified.
func TestAnyNumberOfRounds(t *testing.T) {
	programs := 24
	if long.All() {
		programs = 400
	}
	rnd := rand.New(rand.NewPCG(21, 22))
	verified, rejected := 0, make(map[string]int)
	for range programs {
		r := gen.RandomRounds(rnd)
		v := verdictOf(t, r.PTX(-1), check.Trace, 1)
		if v.Kind == diag.Bug {
			t.Fatalf("a bug without a number of rounds: %+v\n%s", r, r.PTX(-1))
		}
		all := v.Kind == diag.Verified
		if all && !strings.Contains(v.Scope, "any n from 0 to") {
			t.Fatalf("the verdict does not say for which numbers: %q", v.Scope)
		}
		if all {
			verified++
		} else {
			rejected[gen.RoundMistakes[r.Mistake]]++
			if r.Mistake == 0 {
				t.Errorf("a right ring is not verified: %s: %+v\n%s", v.Reason, r, r.PTX(-1))
			}
			continue
		}
		numbers := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 23, 24, 25, 33, 63, 64, 65, 97, 128, 200,
			225 + rnd.IntN(400)}
		rnd.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		for i, n := range numbers {
			one := verdictOf(t, r.PTX(n), check.Trace, 1)
			if one.Kind != diag.Verified {
				t.Fatalf("verified for any n, and with n=%d %v (%s): %+v\n%s", n, one.Kind, one.Reason, r,
					r.PTX(n))
			}
			if i < 3 {
				if one := verdictOf(t, r.PTX(n), check.Run, 4); one.Kind != diag.Clean {
					t.Fatalf("verified for any n, and runs with n=%d say %v (%s): %+v\n%s", n, one.Kind,
						one.Reason, r, r.PTX(n))
				}
			}
		}
	}
	t.Logf("%d of %d verified; not verified: %v", verified, programs, rejected)
	if 4*verified < programs || len(rejected) < 6 {
		t.Error("the programs show too little")
	}
}

// step is an operation of 32 bits on what a round computes from its number.
type step struct {
	ptx string // from %e to %e
	f   func(x uint32) uint32
}

// randomStep returns a random operation.
func randomStep(rnd *rand.Rand) step {
	pick := func(of ...uint32) uint32 { return of[rnd.IntN(len(of))] }
	text := func(format string, c uint32) string { return fmt.Sprintf(format, c) }
	switch rnd.IntN(14) {
	case 9:
		return step{"not.b32 %e, %e;", func(x uint32) uint32 { return ^x }}
	case 10:
		c := pick(1, 3, 8, 0x80000000, 0xffffffff)
		return step{text("xor.b32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x ^ c }}
	case 11:
		c := pick(1, 4, 15, 0xfffffff0)
		if rnd.IntN(2) == 0 {
			return step{text("or.b32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x | c }}
		}
		return step{text("and.b32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x & c }}
	case 12:
		at, n := pick(0, 1, 3, 24), pick(0, 1, 2, 8)
		ptx := fmt.Sprintf("bfe.u32 %%e, %%e, %d, %d;", at, n)
		if rnd.IntN(2) == 0 {
			return step{ptx, func(x uint32) uint32 { return x >> at & (1<<n - 1) }}
		}
		return step{strings.Replace(ptx, "u32", "s32", 1), func(x uint32) uint32 {
			if n == 0 {
				return 0
			}
			return uint32(int32(x<<(32-at-n)) >> (32 - n))
		}}
	case 13:
		c := pick(0x96, 0xe8, 0xca) // of e, e and a constant
		return step{text("lop3.b32 %%e, %%e, %%e, 12, %d;", c), func(x uint32) uint32 {
			out := uint32(0)
			for i := range 32 {
				b := x >> i & 1
				out |= c >> (b<<2 | b<<1 | 12>>i&1) & 1 << i
			}
			return out
		}}
	case 0:
		c := pick(1, 5, 100, 30000, 0x7fffff00, 0xfffff000)
		return step{text("add.u32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x + c }}
	case 1:
		c := pick(1, 3, 64, 100, 600)
		return step{text("sub.u32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x - c }}
	case 2, 3:
		c := pick(2, 3, 6, 12, 1000, 65536, 1048575)
		return step{text("mul.lo.u32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x * c }}
	case 4:
		c := pick(1, 2, 16, 27)
		return step{text("shl.b32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x << c }}
	case 5:
		c := pick(1, 2, 8)
		return step{text("shr.u32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x >> c }}
	case 6:
		c := pick(2, 3, 4, 6)
		return step{text("div.u32 %%e, %%e, %d;", c), func(x uint32) uint32 { return x / c }}
	case 7:
		c := pick(2, 3, 6)
		return step{text("div.s32 %%e, %%e, %d;", c),
			func(x uint32) uint32 { return uint32(int32(x) / int32(c)) }}
	case 8:
		return step{"cvt.u32.u8 %e, %e;", func(x uint32) uint32 { return uint32(uint8(x)) }}
	}
	c := pick(3, 6, 1000, 65536)
	return step{text("mul.wide.u32 %%d, %%e, %d; shr.u64 %%d, %%d, 8; cvt.u32.u64 %%e, %%d;", c),
		func(x uint32) uint32 { return uint32(uint64(x) * uint64(c) >> 8) }}
}

// TestArithmeticOfRounds draws kernels whose rounds compute a place from their number in two ways,
// and race where these differ in a way in which they do not differ in the first 320 rounds. A
// kernel must not be verified for such a number of rounds; the races are found by computing the
// same. Some right kernels must be verified.
func TestArithmeticOfRounds(t *testing.T) {
	programs := 400
	if long.All() {
		programs = 20000
	}
	rnd := rand.New(rand.NewPCG(23, 24))
	wrong, right, verified := 0, 0, 0
	for range programs {
		stages := uint32(1 + rnd.IntN(4))
		var ops []step
		for range 1 + rnd.IntN(3) {
			ops = append(ops, randomStep(rnd))
		}
		m := stages * uint32(1+rnd.IntN(2))
		ops = append(ops, step{fmt.Sprintf("rem.u32 %%e, %%e, %d;", m),
			func(x uint32) uint32 { return x % m }})
		if rnd.IntN(4) == 0 {
			ops[len(ops)-1] = step{fmt.Sprintf("rem.s32 %%e, %%e, %d;", m),
				func(x uint32) uint32 { return uint32(int32(x) % int32(m)) }}
		}
		value := func(i uint32) uint32 {
			x := i
			for _, o := range ops {
				x = o.f(x)
			}
			return x<<3 + i%stages
		}
		early := make(map[uint32]bool)
		for i := range uint32(320) {
			early[value(i)] = true
		}
		bad, at := uint32(0x7ffffff0), uint64(1)<<40 // no round has this value
		for k := range uint32(4000) {
			i := 320 + k
			if k >= 3000 {
				i = rnd.Uint32N(1 << 24)
			}
			if v := value(i); !early[v] {
				bad, at = v, uint64(i)
				break
			}
		}
		if at == 1<<40 && rnd.IntN(4) > 0 {
			continue
		}
		var text strings.Builder
		for _, o := range ops {
			text.WriteString(o.ptx + "\n")
		}
		ptx := fmt.Sprintf(arithmeticRounds, text.String(), bad, stages)
		v := verdictOf(t, ptx, check.Trace, 1)
		all := v.Kind == diag.Verified
		switch {
		case at < 1<<40:
			wrong++
			if all {
				t.Errorf("verified (%s), and round %d has a race:\n%s", v.Scope, at, ptx)
			}
		default:
			right++
			if all {
				verified++
			}
		}
	}
	t.Logf("%d with a race, %d without, of which %d verified", wrong, right, verified)
	if wrong < programs/20 || verified < programs/40 {
		t.Error("the programs show too little")
	}
}

// arithmeticRounds is a kernel of two warps; %s computes %e, and a round in which that is wrong for
// its place omits a barrier.
const arithmeticRounds = `// heddle: grid=1 block=64
.version 8.8
.target sm_90a
.address_size 64
.shared .align 128 .b8 s[2048];
.visible .entry k(.param .u32 n)
{
.reg .pred %%p, %%q; .reg .b32 %%t, %%a, %%b, %%c, %%v, %%i, %%n, %%e, %%st, %%x; .reg .b64 %%d;
mov.u32 %%t, %%tid.x; mov.u32 %%a, s; shl.b32 %%b, %%t, 2; add.u32 %%b, %%a, %%b;
xor.b32 %%c, %%t, 32; shl.b32 %%c, %%c, 2; add.u32 %%c, %%a, %%c;
ld.param.u32 %%n, [n]; mov.u32 %%i, 0; mov.u32 %%st, 0;
ROUND:
shl.b32 %%x, %%st, 8; add.u32 %%x, %%x, %%b; st.shared.u32 [%%x+512], %%t;
st.shared.u32 [%%b], %%t;
mov.u32 %%e, %%i;
%s
shl.b32 %%x, %%e, 3; add.u32 %%x, %%x, %%st; setp.eq.u32 %%q, %%x, %d;
@%%q bra SKIP;
bar.sync 0;
SKIP:
ld.shared.u32 %%v, [%%c];
bar.sync 0;
add.u32 %%st, %%st, 1; setp.eq.u32 %%q, %%st, %d; @%%q mov.u32 %%st, 0;
add.u32 %%i, %%i, 1; setp.lt.u32 %%p, %%i, %%n;
@%%p bra ROUND;
ret;
}
`

// A quotient computes the number of rounds from a parameter.
type quotient struct {
	ptx   string // from %K to %n
	f     func(k int64) int64
	other bool // not every number of rounds has a parameter, or f falls
}

// quotients are what programs compute, and what decides nothing for all parameters.
var quotients = []quotient{
	{ptx: "add.s32 %k1, %K, 63; shr.s32 %k2, %k1, 31; shr.u32 %k3, %k2, 26; add.s32 %k4, %k1, %k3; shr.s32 %n, %k4, 6;",
		f: func(k int64) int64 { return (k + 63) / 64 }},
	{ptx: "add.u32 %k1, %K, 31; shr.u32 %n, %k1, 5;", f: func(k int64) int64 { return (k + 31) / 32 }},
	{ptx: "div.u32 %n, %K, 3;", f: func(k int64) int64 { return k / 3 }},
	{ptx: "mul.wide.u32 %w1, %K, 4; shr.u64 %w2, %w1, 4; cvt.u32.u64 %n, %w2;", f: func(k int64) int64 { return k / 4 }},
	{ptx: "shr.u32 %k1, %K, 2; add.u32 %n, %k1, 1;", f: func(k int64) int64 { return k/4 + 1 }},
	{ptx: "add.u32 %k1, %K, 63; shr.u32 %n, %k1, 6; setp.lt.s32 %z, %K, 1; @%z ret;",
		f: func(k int64) int64 { return (k + 63) / 64 }},
	{ptx: "mul.lo.u32 %n, %K, 2;", f: func(k int64) int64 { return 2 * k }, other: true},
	{ptx: "sub.u32 %n, 100, %K;", f: func(k int64) int64 { return 100 - k }, other: true},
	{ptx: "and.b32 %n, %K, 127;", f: func(k int64) int64 { return k & 127 }, other: true},
	{ptx: "add.u32 %k1, %K, 63; shr.u32 %n, %k1, 6; setp.lt.s32 %z, %K, 7; @%z ret;", other: true},
}

// TestQuotientsOfRounds compares verdicts on rings whose number of rounds is computed from a
// parameter with those on single numbers. One that is verified must be right for each number that a
// parameter gives, and all right rings must be verified for what programs compute.
func TestQuotientsOfRounds(t *testing.T) {
	programs := 20
	if long.All() {
		programs = 400
	}
	rnd := rand.New(rand.NewPCG(25, 26))
	verified, rejected := 0, 0
	for range programs {
		r, q := gen.RandomRounds(rnd), quotients[rnd.IntN(len(quotients))]
		text := r.PTX(-1)
		const load = "ld.param.u32 %r3, [n];"
		if strings.Count(text, load) != 1 {
			t.Fatalf("the ring does not load its number of rounds once:\n%s", text)
		}
		text = strings.Replace(text, load, ".reg .b32 %K, %k<5>; .reg .b64 %w<3>; .reg .pred %z;\nld.param.u32 %K, [n];\n"+
			strings.ReplaceAll(q.ptx, "%n", "%r3"), 1)
		v := verdictOf(t, text, check.Trace, 1)
		switch {
		case v.Kind == diag.Verified && q.other:
			t.Fatalf("verified for any parameter:\n%s", text)
		case v.Kind != diag.Verified:
			if rejected++; r.Mistake == 0 && !q.other {
				t.Errorf("a right ring is not verified: %s: %+v\n%s", v.Reason, r, text)
			}
			continue
		}
		verified++
		for _, k := range []int64{0, 1, 2, 3, 5, 31, 63, 64, 65, 127, 128, 129, 1000, 64 * int64(225+rnd.IntN(100))} {
			n := int(q.f(k))
			if one := verdictOf(t, r.PTX(n), check.Trace, 1); one.Kind != diag.Verified {
				t.Fatalf("verified for any parameter, and with %d rounds %v (%s):\n%s", n, one.Kind, one.Reason, text)
			}
		}
	}
	t.Logf("%d of %d verified", verified, programs)
	if verified < programs/8 || rejected < programs/8 {
		t.Error("the programs show too little")
	}
}
