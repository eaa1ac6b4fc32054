package gen

import "strings"

// OpenCL returns what draw does with the memory that barriers, fences, acquires and releases order,
// as OpenCL C names it: mostly that of the data, global memory or both, sometimes another. An atomic
// operation orders the memory that it accesses, which is global memory in the kernels of Locks,
// Flags and Arrivals.
func OpenCL(draw func(Source) Kernel) func(Source) Kernel {
	return func(src Source) Kernel {
		k := draw(src)
		g := protocol{random{src: src}, 9, 10}
		lines := strings.SplitAfter(k.PTX, "\n")
		out := make([]string, 0, 2*len(lines))
		for _, line := range lines {
			if by := g.orders(line); by != "" {
				out = append(out, "\t.pragma \"heddle.order "+by+"\";\n")
			}
			out = append(out, line)
		}
		k.PTX = "// heddle.language cl\n" + strings.Join(out, "")
		return k
	}
}

// orders draws the memory that the instruction of a line orders; "" if it has no such choice.
func (g *protocol) orders(line string) string {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(line, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("bar.sync"):
		return g.mostly("all", "global", "shared", "none")
	case has("membar", "fence."):
		return g.mostly([]string{"global", "all"}[g.n(2)], "shared", "none")
	case has(".acquire.", ".release.", ".acq_rel."):
		return "global"
	}
	return ""
}
