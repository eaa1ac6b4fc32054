package lower

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// Built-in functions that access memory through pointers to any element type: OpenCL C 3.0, 6.15.7
// and 6.15.11.

// trailing returns the number at the end of a name; 1 if there is none.
func trailing(name string) int {
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return 1
}

// vload defines vloadn(offset, p): it loads n elements from p + offset*n, which need only the
// alignment of an element.
func (g *clGen) vload(name string) {
	n := trailing(name)
	for _, t := range clAll {
		for _, space := range g.spaces(true) {
			g.function(t.vec(n), name, []string{"size_t o", fmt.Sprintf("%s const %s *p", space, t.name)},
				"p += o * "+fmt.Sprint(n)+"; return "+
					clVector(t.vec(n), n, func(i int) string { return fmt.Sprintf("p[%d]", i) })+";")
		}
	}
}

// vstore defines vstoren(v, offset, p), the inverse of vload.
func (g *clGen) vstore(name string) {
	n := trailing(name)
	for _, t := range clAll {
		for _, space := range g.spaces(false) {
			var b strings.Builder
			fmt.Fprintf(&b, "p += o * %d;", n)
			for i := range n {
				fmt.Fprintf(&b, " p[%d] = %s;", i, clComponent("v", n, i))
			}
			g.function("void", name, []string{t.vec(n) + " v", "size_t o",
				fmt.Sprintf("%s %s *p", space, t.name)}, b.String())
		}
	}
}

// halfNameRE matches the names of loads and stores of half vectors.
var halfNameRE = lazyregexp.New(`^v(?:load|store)(a?)_half(\d*)(_rt[ezpn])?$`)

// halfName splits a name such as vstorea_half3_rtz into the vector length, the distance between
// vectors in elements, and the rounding mode.
func halfName(name string) (n, step int, mode string) {
	m := halfNameRE.FindStringSubmatch(name)
	n, step = 1, 1
	if m[2] != "" {
		n, _ = strconv.Atoi(m[2])
		step = n
		if m[1] == "a" && n == 3 {
			step = 4
		}
	}
	return n, step, m[3]
}

// vloadHalf defines vload_half and vloada_half functions, which convert to float.
func (g *clGen) vloadHalf(name string) {
	n, step, _ := halfName(name)
	for _, space := range g.spaces(true) {
		g.function(clFloats[0].vec(n), name, []string{"size_t o", space + " const half *p"},
			fmt.Sprintf("p += o * %d; return ", step)+clVector(clFloats[0].vec(n), n,
				func(i int) string { return fmt.Sprintf("(float)p[%d]", i) })+";")
	}
}

// vstoreHalf defines vstore_half and vstorea_half functions, which convert from float or double.
func (g *clGen) vstoreHalf(name string) {
	n, step, mode := halfName(name)
	for _, t := range clFloats[:2] {
		for _, space := range g.spaces(false) {
			var b strings.Builder
			fmt.Fprintf(&b, "p += o * %d;", step)
			for i := range n {
				fmt.Fprintf(&b, " p[%d] = convert_half%s(%s);", i, mode, clComponent("v", n, i))
			}
			g.function("void", name, []string{t.vec(n) + " v", "size_t o", space + " half *p"}, b.String())
		}
	}
}

// prefetch defines prefetch(p, n), which has no effect on memory.
func (g *clGen) prefetch(name string) {
	for _, t := range clAll {
		for _, n := range clWidths {
			g.function("void", name, []string{"__global const " + t.vec(n) + " *p", "size_t n"}, "")
		}
	}
}

// asyncCopy defines the copies that all work-items of a group perform together. Each work-item
// copies a share of the elements; copies to local memory are asynchronous (docs/support.md lists
// what this model misses). An element is not copied by the work-item with its index, which is the
// one that most likely accesses the element otherwise: a race between the two would be hidden by
// program order. Every work-item commits a group, even an empty one.
func (g *clGen) asyncCopy(name string) {
	strided := name == "async_work_group_strided_copy"
	for _, t := range clAll {
		for _, n := range clWidths {
			for k, spaces := range [][2]string{{"__local", "__global"}, {"__global", "__local"}} {
				params := []string{fmt.Sprintf("%s %s *d", spaces[0], t.vec(n)),
					fmt.Sprintf("%s const %s *s", spaces[1], t.vec(n)), "size_t n"}
				from, to, step := "i", "i", "1"
				if strided {
					step = "step"
					params = append(params, "size_t step")
					if k == 0 {
						from = "i * step"
					} else {
						to = "i * step"
					}
				}
				element := fmt.Sprintf("d[%s] = s[%s];", to, from)
				if k == 0 {
					element = cpAsync(element, t.size*n, fmt.Sprintf("&d[%s]", to), fmt.Sprintf("&s[%s]", from))
				}
				g.function("event_t", name, append(params, "event_t e"),
					"uint size = (uint)__heddle_work_group_size(); __heddle_collective(__HEDDLE_ADDRESS(d), "+
						"__HEDDLE_ADDRESS(s), n, "+
						step+"); "+
						"for (size_t i = __heddle_share((__heddle_local_linear_id() + size / 2) % size, size, 1); "+
						"i < n; i += size) { "+element+
						" } __asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); return __heddle_event(e);")
			}
		}
	}
}

// cpAsync returns the code that copies an element to local memory: asynchronously for the sizes of
// cp.async, which are 4, 8 and 16 bytes (PTX ISA 9.7.9.25.3), and plain otherwise. A vector of
// three has the size of four.
func cpAsync(plain string, bytes int, to, from string) string {
	if bytes%3 == 0 {
		bytes = bytes / 3 * 4
	}
	chunk := min(bytes, 16)
	if chunk < 4 {
		return plain
	}
	how := "ca"
	if chunk == 16 {
		how = "cg"
	}
	var b strings.Builder
	for at := 0; at < bytes; at += chunk {
		fmt.Fprintf(
			&b, `__asm volatile("cp.async.%s.shared.global [%%0], [%%1], %d;" :: `+
				`"l"(__HEDDLE_ADDRESS(%s) + %d), "l"(__HEDDLE_ADDRESS(%s) + %d) : "memory"); `,
			how, chunk, to, at, from, at)
	}
	return b.String()
}

// awaits names the events that are awaited, for up to four events: a proof does not support more.
const awaits = "if (n > 0) __heddle_await(e[0]); if (n > 1) __heddle_await(e[1]); if (n > 2) " +
	"__heddle_await(e[2]); if (n > 3) __heddle_await(e[3]); "

// waitEvents defines wait_group_events, which waits for the copies of all work-items.
func (g *clGen) waitEvents(name string) {
	for _, space := range g.spaces(false) {
		g.function("void", name, []string{"int n", space + " event_t *e"},
			awaits+"__heddle_awaited(n); __asm volatile(\"cp.async.wait_all;\" ::: \"memory\"); "+
				"work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
	}
}
