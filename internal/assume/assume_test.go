package assume

import (
	"strings"
	"testing"

	"heddle/internal/smt"
)

// TestMeaning compares values with those of C for int n = 12, m = -3 and dimensions 4 and 64.
func TestMeaning(t *testing.T) {
	c := smt.New()
	env := map[string]smt.Term{
		"n": c.Var("n", 32), "m": c.Var("m", 32), "s": c.Var("s", 16), "gridDim.x": c.Var("g", 32),
		"blockDim.x": c.Var("b", 32),
	}
	m := &smt.Model{Vars: map[string]uint64{"n": 12, "m": 0xfffffffd, "s": 0x8000, "g": 4, "b": 64}}
	for text, want := range map[string]bool{
		"n == 12":                            true,
		"n != 12":                            false,
		"m < 0":                              true,
		"m == -3":                            true,
		"s == -32768":                        true,
		"n":                                  true,
		"n - 12":                             false,
		"!n":                                 false,
		"!!n == 1":                           true,
		"n < 13 && n > 11":                   true,
		"n <= 11 || n >= 13":                 false,
		"n % 4 == 0":                         true,
		"m % 2 == -1":                        true,
		"m / 2 == -1":                        true,
		"2 + 3 * 4 == 14":                    true,
		"(2 + 3) * 4 == 20":                  true,
		"1 << 3 == 8":                        true,
		"n >> 1 == 6":                        true,
		"m >> 1 == -2":                       true,
		"n & 8":                              true,
		"n & 8 == 8":                         false, // & binds less than ==
		"(n & (n - 1)) == 0":                 false,
		"n ^ 12":                             false,
		"(n | 3) == 15":                      true,
		"~n == -13":                          true,
		"- - n == 12":                        true,
		"+n == 12":                           true,
		"gridDim.x * blockDim.x == 256":      true,
		"0x10u == 16":                        true,
		"1 - 1 - 1 == -1":                    true,
		"n == 0 || n == 12 && gridDim.x > 3": true,
		"(n > 3) + (n > 5) == 2":             true,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		x, err := e.Term(c, func(name string) (smt.Term, bool) { v, ok := env[name]; return v, ok })
		if err != nil {
			t.Error(err)
		} else if got := c.Evaluate(m).Holds(x); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "column 1: expected a parameter",
		"n ==":                          "column 5: expected a parameter",
		"n = 3":                         "column 3: unexpected '='",
		"(n":                            "column 3: expected )",
		"n 3":                           "column 3: expected an operator",
		"n == 3)":                       "column 7: expected an operator",
		"3x > 1":                        `column 1: "3x" is not a 64-bit number`,
		"n == 08":                       `column 6: "08" is not a 64-bit number`,
		"p == 1":                        `column 1: "p" is not an integer parameter`,
		"1 + p > 1":                     `column 5: "p" is not an integer parameter`,
		"$":                             "column 1: unexpected '$'",
		strings.Repeat("(", 1000) + "n": "more than 200 nested operators",
		strings.Repeat("-", 1000) + "n": "more than 200 nested operators",
	} {
		e, err := Parse(text)
		if err == nil {
			c := smt.New()
			_, err = e.Term(c, func(name string) (smt.Term, bool) { return c.Var("n", 32), name == "n" })
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"n == gridDim.x * blockDim.x", "!(n & 3) || -n < ~4u", "((",
		"1<<63>>63%0/0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil || len(text) > 200 {
			return
		}
		c := smt.New()
		_, _ = e.Term(c, func(name string) (smt.Term, bool) { return c.Var(name, 32), true })
	})
}
