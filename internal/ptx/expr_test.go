package ptx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// sexpr writes an operand with its structure visible.
func sexpr(x Operand) string {
	op := ""
	switch x.Kind() {
	case Name:
		if x.Field() != "" {
			return "(field " + x.Name() + " " + x.Field() + ")"
		}
		return x.Name()
	case Int:
		v, unsigned := x.Int()
		if unsigned {
			return fmt.Sprintf("%dU", v)
		}
		return fmt.Sprint(v)
	case Float:
		bits, single := x.Float()
		if single {
			return fmt.Sprintf("f32:%v", math.Float32frombits(uint32(bits)))
		}
		return fmt.Sprintf("f64:%v", math.Float64frombits(bits))
	case String:
		return fmt.Sprintf("%q", x.Str())
	case Range:
		n, _ := x.Y().Int()
		return fmt.Sprintf("(range %s %d)", x.Name(), n)
	case Unary, Binary:
		op = x.Op()
	default:
		op = map[OperandKind]string{Vector: "vec", Paren: "paren", Mem: "mem" + x.Field(), Pair: "pair",
			Index: "index", Mask: "mask"}[x.Kind()]
	}
	parts := []string{op}
	for _, e := range x.Parts().All() {
		parts = append(parts, sexpr(e))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// bodyOf returns the statements of the first function.
func bodyOf(f *File) []Stmt { return slices.Collect(f.Decls[0].(*Func).Body.Stmts()) }

// TestOperands parses operands of instructions (ISA 4.5 and chapter 6).
func TestOperands(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"%r1", "%r1"},
		{"%tid.x", "(field %tid x)"},
		{"r3.b7766", "(field r3 b7766)"},
		{"_", "_"},
		{"[a]", "(mem a)"},
		{"[a+4]", "(mem (+ a 4))"},
		{"[a+-4]", "(mem (+ a (- 4)))"},
		{"[a-4]", "(mem (- a 4))"},
		{"[a + 4 * 2]", "(mem (+ a (* 4 2)))"},
		{"[16]", "(mem 16)"},
		{"[tex, smp, {x, y}]", "(mem tex smp (vec x y))"},
		{"[a].unified", "(memunified a)"},
		{"a[3]", "(index a 3)"},
		{"a[r1+1]", "(index a (+ r1 1))"},
		{"{a, _, 3}", "(vec a _ 3)"},
		{"{a}", "(vec a)"},
		{"(a, b)", "(paren a b)"},
		{"()", "(paren)"},
		{"p|q", "(pair p q)"},
		{"%p1|_", "(pair %p1 _)"},
		{"{a,b}|p", "(pair (vec a b) p)"},
		{"!p", "(! p)"},
		{"-r3", "(- r3)"},
		{"1|2", "(| 1 2)"},
		{"WARP_SZ|1", "(| WARP_SZ 1)"},
		// 4.5.1: decimal, hexadecimal, octal, binary; the suffix U.
		{"0", "0"}, {"017", "15"}, {"0x1F", "31"}, {"0XfU", "15U"}, {"0b101", "5"}, {"0B11U", "3U"},
		{"42U", "42U"},
		{"0U", "0U"}, {"18446744073709551615", "18446744073709551615"},
		{"01777777777777777777777", "18446744073709551615"},
		// 4.5.2: decimal fractions, and the exact forms.
		{"1.5", "f64:1.5"}, {"1.", "f64:1"}, {".5", "f64:0.5"}, {"1e3", "f64:1000"},
		{"1.5E-3", "f64:0.0015"}, {"2e+4", "f64:20000"},
		{"0f3F800000", "f32:1"}, {"0Fbf800000", "f32:-1"}, {"0d3FF0000000000000", "f64:1"},
		{"0D7ff0000000000000", "f64:+Inf"}, {"1e999", "f64:+Inf"},
		// Table 4: precedence and associativity.
		{"1+2*3", "(+ 1 (* 2 3))"},
		{"1*2+3", "(+ (* 1 2) 3)"},
		{"1-2-3", "(- (- 1 2) 3)"},
		{"8/4%3*2", "(* (% (/ 8 4) 3) 2)"},
		{"1+2<<3", "(<< (+ 1 2) 3)"},
		{"1<<2<3", "(< (<< 1 2) 3)"},
		{"1<2==3>=4", "(== (< 1 2) (>= 3 4))"},
		{"1==2&3", "(& (== 1 2) 3)"},
		{"1&2^3|4", "(| (^ (& 1 2) 3) 4)"},
		{"1|2&&3", "(&& (| 1 2) 3)"},
		{"1&&2||3", "(|| (&& 1 2) 3)"},
		{"1||2&&3|4^5&6!=7<=8>>9-10*11",
			"(|| 1 (&& 2 (| 3 (^ 4 (& 5 (!= 6 (<= 7 (>> 8 (- 9 (* 10 11))))))))))"},
		{"1*2-3>>4>5==6&7^8|9&&10||11",
			"(|| (&& (| (^ (& (== (> (>> (- (* 1 2) 3) 4) 5) 6) 7) 8) 9) 10) 11)"},
		{"1 ? 2 : 3 ? 4 : 5", "(?: 1 2 (?: 3 4 5))"},
		{"1||0 ? 2+3 : 4", "(?: (|| 1 0) (+ 2 3) 4)"},
		{"-1+~2", "(+ (- 1) (~ 2))"},
		{"!-+~1", "(! (- (+ (~ 1))))"},
		{"(1+2)*3", "(* (paren (+ 1 2)) 3)"},
		{"(.u64)-1>>2", "(>> ((.u64) (- 1)) 2)"},
		{"( .s64 ) 5", "((.s64) 5)"},
		{"15%4", "(% 15 4)"},
		{"15 % 4", "(% 15 4)"},
		{"64%WARP_SZ", "(% 64 WARP_SZ)"},
		{"mask(0xff, a)", "(mask 255 a)"},
		{"generic(a)+4", "(+ (generic a) 4)"},
		{"-generic(a)", "(- (generic a))"},
	} {
		f, errs := Parse(newFile(t, tt.text, []byte(".entry k() { op "+tt.text+"; }")))
		if len(errs) > 0 {
			t.Errorf("%s: %s", tt.text, errorList(errs))
			continue
		}
		ops := bodyOf(f)[0].Inst().Operands()
		if ops.Len() != 1 {
			t.Errorf("%s: %d operands, want 1", tt.text, ops.Len())
			continue
		}
		if got := sexpr(ops.At(0)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
		roundTrip(t, tt.text, f)
	}
}

// TestConstInt evaluates sizes of arrays by the rules of ISA 4.5.5.
func TestConstInt(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"2+3*4", 14}, {"(2+3)*4", 20}, {"7/2", 3}, {"7%4", 3}, {"1<<10", 1024}, {"-16>>2 == -4", 1},
		{"-1 >> 1 == -1", 1},          // signed: arithmetic
		{"(.u64)-1 >> 63", 1},         // unsigned: logical
		{"-8 / 2 + 5", 1},             // signed division
		{"-1 < 1", 1}, {"-1 < 1U", 0}, // usual conversions
		{"~0 > 0", 1},                 // ~ gives unsigned
		{"0xfabc123400000000 > 0", 1}, // unsigned, since it does not fit in .s64
		{"-1 % 16", 15},               // the remainder is of unsigned operands
		{"(.s64)~0 < 0", 1},           // cast
		{"!5 + !0", 1},                // logical negation
		{"5 && 0 || 3", 1}, {"1 ? 8 : 9", 8}, {"0 ? 8 : 9", 9},
		{"(0 ? 1U : -1) > 0", 1}, // the type of ?: is of both
		{"6 & 3 | 8 ^ 1", 11}, {"WARP_SZ * 4", 128}, {"3 != 3", 0}, {"3 <= 3", 1}, {"3 >= 4", 0},
		{"+5", 5},
		{"1 << 64", 0},
		// unsigned, since the literal does not fit in .s64: 2^63 / (2^64-1)
		{"-9223372036854775808 / -1", 0},
		{"(.s64)0x8000000000000000 / -1 < 0", 1}, // wraps
	} {
		f, errs := Parse(newFile(t, tt.text, []byte(".global .b8 x["+tt.text+"];")))
		if len(errs) > 0 {
			t.Errorf("%s: %s", tt.text, errorList(errs))
			continue
		}
		if got := f.Decls[0].(*Var).Names[0].Dims[0]; got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.text, got, tt.want)
		}
	}
}
