package lower

import (
	"fmt"
	"strings"
)

// Functions that do not work component by component: OpenCL C 3.0, 6.15.5, 6.15.6 and 6.15.14.

// anyAll defines any and all, which test the most significant bit of each component.
func (g *clGen) anyAll(name string) {
	op := map[string]string{"any": " || ", "all": " && "}[name]
	for _, t := range clInts {
		if !t.signed {
			continue
		}
		for _, n := range clWidths {
			parts := make([]string, n)
			for i := range parts {
				parts[i] = clComponent("a", n, i) + " < 0"
			}
			g.function("int", name, []string{t.vec(n) + " a"}, "return "+strings.Join(parts, op)+";")
		}
	}
}

// selects defines select(a, b, c), which is b where c is nonzero; in vectors, where the most
// significant bit of c is set.
func (g *clGen) selects(name string) {
	for _, t := range clAll {
		for _, signed := range []bool{true, false} {
			c := clInteger(t.size, signed)
			for _, n := range clWidths {
				g.function(t.vec(n), name, []string{t.vec(n) + " a", t.vec(n) + " b", c.vec(n) + " c"},
					"return "+
						clVector(t.vec(n), n, func(i int) string {
							cond := "c"
							if n > 1 {
								cond = fmt.Sprintf("(%s)%s < 0", clInteger(t.size, true).name, clComponent("c", n, i))
							}
							return fmt.Sprintf("%s ? %s : %s", cond, clComponent("b", n, i), clComponent("a", n, i))
						})+";")
			}
		}
	}
}

// cross defines the cross product of vectors of three or four components, the fourth of which is 0
// in the result.
func (g *clGen) cross(name string) {
	for _, t := range clFloats {
		for _, n := range []int{3, 4} {
			last := ""
			if n == 4 {
				last = ", (" + t.name + ")0"
			}
			g.function(t.vec(n), name, []string{t.vec(n) + " a", t.vec(n) + " b"},
				fmt.Sprintf("return (%s)(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * "+
					"b.x%s);", t.vec(n), last))
		}
	}
}

// geometric defines dot, length, distance and normalize.
func (g *clGen) geometric(name string) {
	base := strings.TrimPrefix(name, "fast_")
	for _, t := range clFloats {
		f := "f"
		if t.size == 8 {
			f = ""
		}
		for _, n := range clWidths[:4] {
			v := t.vec(n)
			switch base {
			case "dot":
				parts := make([]string, n)
				for i := range parts {
					parts[i] = clComponent("a", n, i) + " * " + clComponent("b", n, i)
				}
				g.function(t.name, name, []string{v + " a", v + " b"}, "return "+strings.Join(parts, " + ")+";")
			case "length":
				g.function(t.name, name, []string{v + " a"},
					fmt.Sprintf("return __heddle_m_sqrt%s(dot(a, a));", f))
			case "distance":
				g.function(t.name, name, []string{v + " a", v + " b"}, "return length(a - b);")
			case "normalize":
				g.function(v, name, []string{v + " a"},
					fmt.Sprintf("%s l = length(a); return l == 0 ? a : a / l;", t.name))
			}
		}
	}
}

// shuffle defines shuffle(x, mask) and shuffle2(x, y, mask); the low bits of an element of mask
// select a component.
func (g *clGen) shuffle(name string) {
	two := name == "shuffle2"
	for _, t := range clAll {
		mask := clInteger(t.size, false)
		for _, m := range []int{2, 4, 8, 16} {
			for _, n := range []int{2, 4, 8, 16} {
				params := []string{t.vec(m) + " x"}
				pick := func(i int) string { return fmt.Sprintf("x[%s & %d]", clComponent("mask", n, i), m-1) }
				if two {
					params = append(params, t.vec(m)+" y")
					pick = func(i int) string {
						c := clComponent("mask", n, i)
						return fmt.Sprintf("%s & %d ? y[%s & %d] : x[%s & %d]", c, m, c, m-1, c, m-1)
					}
				}
				g.function(t.vec(n), name, append(params, mask.vec(n)+" mask"),
					"return "+clVector(t.vec(n), n, pick)+";")
			}
		}
	}
}
