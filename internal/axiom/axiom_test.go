package axiom_test

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"heddle/internal/axiom"
	"heddle/internal/smt"
)

// apply is an application whose name has the function and the widths.
func apply(c *smt.Context) axiom.Apply {
	return func(name string, width int, args ...smt.Term) smt.Term {
		widths := make([]int, len(args))
		for i := range widths {
			widths[i] = 64
		}
		return c.Apply(c.Declare(fmt.Sprintf("%s/%d:%d", name, len(args), width), width, widths...),
			args...)
	}
}

func parse(t *testing.T, text string) *axiom.File {
	t.Helper()
	f, err := axiom.Parse("f.bpl", text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is wrong with a file, and where. Each message says what was expected.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"axoim true;", `1:1: expected type, function or axiom, found "axoim"`},
		{"axiom true", "1:11: expected ;, found the end of the file"},
		{"axiom f(1bv32) == x;", `1:19: "x" is not a variable of the axiom`},
		{"axiom f(1) == 2bv32;", `1:9: "1": expected a bit-vector, such as 7bv32`},
		{"axiom f(256bv8) == 2bv32;", `1:9: "256bv8": expected a bit-vector`},
		{"axiom (forall x : int :: f(x) == x);", `1:19: type "int": expected bool, bv1 to bv64`},
		{"axiom (forall x : bv65 :: f(x) == x);", `type "bv65"`},
		{"axiom (forall x : bv32, y : bv8 :: { f(x), f(y) } x == x);", "1:46: bv8 here, where bv32"},
		{"axiom (forall x, y : bv32 :: { f(x) } f(x) == f(y));", "1:30: the trigger does not have all"},
		{"axiom (forall x, y : bv32 :: f(x) == f(y));", "passes no function of the kernel all of its"},
		{"axiom (forall x : bv32 :: { x == x } f(x) == x);", "1:31: an operator in a trigger"},
		{"axiom (forall x : bv32 :: { x } f(x) == x);", "1:29: expected an application of a function"},
		{"axiom f(1bv32);", "f has a Boolean parameter or result"},
		{"axiom 1bv32;", "1:7: bv32 here, where bool is needed"},
		{"axiom true && true || true;", "1:20: || behind &&: write parentheses"},
		{"axiom f(1bv8) == 1bv8 == true;", "== behind ==: write parentheses"},
		{"axiom (forall x : bv8 :: f(x) == f(x, x));", "f has 2 arguments here and 1 elsewhere"},
		{"axiom true ==> (exists x : bv8 :: f(x) == x);", "a quantifier within an axiom"},
		{`function {:bvbuiltin "bvxyz"} h(bv8) : bool;`, "not a function of bit-vectors that heddle knows"},
		{`function {:bvbuiltin "bvule"} h(bv8) : bool;`, "h has 1 parameters; expected 2"},
		{`function {:bvbuiltin "bvule"} h(bv8, bv16) : bool;`, "bv16 here, where bv8 is needed"},
		{`function {:bvbuiltin "bvule"} h(bv8, bv8) : bv8;`, "bool here, where bv8 is needed"},
		{`function {:inline} h(bv8) : bv8;`, `attribute "inline": expected bvbuiltin`},
		{"function h(x: bv8) : bv8 { x }", "a function with a body"},
		{"function h(bv8) : bv8;\naxiom h(1bv8, 1bv8) == 1bv8;", "2:7: h has 2 arguments here and 1"},
		{"axiom true;\n/* no end", "2:1: expected */"},
		{`function {:bvbuiltin "bvule} h`, `expected " at the end of the string`},
		{"axiom @;", `unexpected '@'`},
		{"axiom " + strings.Repeat("(", 1000) + "true;", "more than 200 nested operators"},
	} {
		_, err := axiom.Parse("f.bpl", c.text)
		var e *axiom.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %s", c.text, err, c.want)
		}
	}
}

// Instances follow nested applications: the two sides of an equation that needs three steps of
// associativity become equal.
func TestRounds(t *testing.T) {
	f := parse(t, `axiom (forall x, y, z : bv32 :: { f(x, f(y, z)) } f(x, f(y, z)) == f(f(x, y), z));`)
	c := smt.New()
	do := func(a, b smt.Term) smt.Term { return apply(c)("f", 32, c.ZExt(a, 64), c.ZExt(b, 64)) }
	var v [4]smt.Term
	for i := range v {
		v[i] = c.Var(fmt.Sprint("v", i), 32)
	}
	left := do(do(do(v[0], v[1]), v[2]), v[3])
	right := do(v[0], do(v[1], do(v[2], v[3])))
	made := f.Instances(c, apply(c), []smt.Term{left, right})
	want := c.Eq(do(do(v[0], v[1]), do(v[2], v[3])), left)
	found := false
	for _, m := range made {
		found = found || m == want
	}
	if !found || len(made) > 10 {
		t.Errorf("%d instances, with that of the last step: %v", len(made), found)
	}
	if more := f.Instances(c, apply(c), v[:]); len(more) > 0 {
		t.Errorf("%d instances without an application", len(more))
	}
}

// An axiom whose instances have new applications without end has a limit.
func TestLimit(t *testing.T) {
	f := parse(t, `axiom (forall x : bv32 :: { f(x) } f(x) == f(f(f(x))) && f(x) == g(f(x), x));
axiom (forall x, y : bv32 :: { f(x), f(y) } f(x) == f(g(y, x)));`)
	c := smt.New()
	made := f.Instances(c, apply(c), []smt.Term{apply(c)("f", 32, c.Var("x", 64))})
	if len(made) > 400 {
		t.Errorf("%d instances", len(made))
	}
}

// Every instance is true of functions of which the axioms are true. The functions are those that C
// widens: of what they get they see the low bits, and their results are widened.
func TestInstancesHold(t *testing.T) {
	for _, ax := range []struct {
		name, text string
		width      int
		f          func(x, y uint64) uint64
	}{
		{"saturating addition", `function {:bvbuiltin "bvule"} le(bv8, bv8) : bool;
axiom (forall x, y : bv8 :: { f(x, y) } le(x, f(x, y)) && le(y, f(x, y)));
axiom (forall x, y, z : bv8 :: { f(x, f(y, z)) } f(x, f(y, z)) == f(f(x, y), z));
axiom (forall x : bv8 :: { f(x, 0bv8) } f(x, 0bv8) == x);
axiom (forall x, y : bv8 :: f(x, y) == f(y, x));`, 8,
			func(x, y uint64) uint64 { return min(x+y, 255) }},
		{"exclusive or", `function {:bvbuiltin "bvxor"} xor(bv32, bv32) : bv32;
axiom (forall x, y : bv32 :: f(x, y) == xor(x, y));
axiom (forall x, y, z : bv32 :: { f(x, y), f(x, z) } f(x, y) == f(x, z) <==> y == z);
axiom f(7bv32, 7bv32) == 0bv32 && (f(1bv32, 2bv32) != 3bv32 ==> false);`, 32,
			func(x, y uint64) uint64 { return x ^ y }},
		{"signed minimum", `function {:bvbuiltin "bvsle"} le(bv16, bv16) : bool;
axiom (forall x, y : bv16 :: le(f(x, y), x) && !(!le(f(x, y), y)));
axiom (forall x, y : bv16 :: { f(x, y) } f(x, y) == x || f(x, y) == y);`, 16,
			func(x, y uint64) uint64 {
				return uint64(uint16(min(int16(x), int16(y))))
			}},
	} {
		t.Run(ax.name, func(t *testing.T) {
			file := parse(t, ax.text)
			for seed := range int64(200) {
				r := rand.New(rand.NewSource(seed))
				c := smt.New()
				type value struct {
					t smt.Term // in 64 bits, as it is passed
					n uint64
				}
				values := []value{{c.Const(0, 64), 0}, {c.Const(7, 64), 7}}
				low := uint64(1)<<ax.width - 1
				widen := func(n uint64) uint64 { // by the sign or by zeros, into 32 bits
					if ax.width == 16 {
						return uint64(uint32(int32(int16(n))))
					}
					return n
				}
				var apps []smt.Term
				for range 6 {
					a, b := values[r.Intn(len(values))], values[r.Intn(len(values))]
					n := ax.f(a.n&low, b.n&low)
					app := apply(c)("f", 32, a.t, b.t)
					apps = append(apps, app)
					values = append(values, value{c.Const(widen(n), 64), n})
				}
				made := file.Instances(c, apply(c), apps)
				for _, in := range made {
					if !holds(c, in, ax.f, low, widen) {
						t.Fatalf("seed %d: %s is wrong", seed, c.String(in))
					}
				}
				if len(made) == 0 {
					t.Fatal("no instances")
				}
			}
		})
	}
}

// holds evaluates an instance in the model in which f is a function of the low bits.
func holds(c *smt.Context, in smt.Term, f func(x, y uint64) uint64, low uint64,
	widen func(uint64) uint64) bool {
	// applications of constants become constants, from the inside out
	for {
		s := c.Substitute()
		c.Visit([]smt.Term{in}, func(t smt.Term) {
			if c.Op(t) != smt.OpApp {
				return
			}
			a, aok := c.Value(c.Args(t)[0])
			b, bok := c.Value(c.Args(t)[1])
			if aok && bok {
				s.Replace(t, c.Const(widen(f(a&low, b&low)), 32))
			}
		})
		if s.Len() == 0 {
			return in == smt.True
		}
		in = s.Apply(in)
	}
}
