package lower

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// Surfaces of kernels that are examined without their program. Nothing says then what a handle
// stands for, so a surface that a parameter names is taken to be an array of its own, as a pointer
// would: an element at (x, y, z), of which x counts bytes, is at a fixed place of it. That keeps
// what a race needs, which accesses are to the same element, and the engines see ordinary loads and
// stores. A kernel with another handle, or with formatted accesses, keeps the instructions of
// surfaces, which are unsupported. So does one that only reads surfaces: their contents are unknown
// then, as those of textures are.
//
// Layouts are powers of two, and coordinates beyond them wrap, which may only add conflicts. An access
// with .clamp goes to the nearest element, whose place depends on the size of the surface: it is
// replaced only if it reads a surface that the kernel does not write.

// surfaceBits are the bits of a coordinate, by the geometry of an instruction: x, y and z, or the
// layer last. Together they have at most 36 bits, the size of an array that heddle assumes where
// none is specified.
var surfaceBits = map[string][]uint{"1d": {20}, "2d": {20, 16}, "3d": {15, 11, 10},
	"a1d": {20, 16}, "a2d": {16, 13, 7}}

// Parts of the PTX that llc writes: the head of a kernel, a load of a parameter, a copy of a
// register, an access to a surface, and the first register that a statement writes.
var (
	entryHeadRE = lazyregexp.New(`^\.(?:visible|weak) \.entry ([\w$]+)\(`)
	paramLoadRE = lazyregexp.New(`^ld\.param\.[ub]64 (%\w+), \[([\w$]+)_param_(\d+)(?:\+(\d+))?\];$`)
	regCopyRE   = lazyregexp.New(`^mov\.[ub]64 (%\w+), (%\w+);$`)
	surfaceRE   = lazyregexp.New(`\b(suld|sust)\.`)
	suldRE      = lazyregexp.New(`^suld\.b\.(\w+)((?:\.v[24])?)\.b(8|16|32|64)\.(\w+) ([^\[]+), ` +
		`\[(%\w+), \{([^{}]*)\}\];$`)
	sustRE = lazyregexp.New(`^sust\.b\.(\w+)((?:\.v[24])?)\.b(8|16|32|64)\.(\w+) ` +
		`\[(%\w+), \{([^{}]*)\}\], (.+);$`)
	writtenRE = lazyregexp.New(`^[\w.]+ (?:\{)?(%\w+)`)
)

// surfaceAccess is an access to a surface in the text.
type surfaceAccess struct {
	line                   int
	geometry, vector, size string
	mode                   string // for what is outside of the surface
	handle, coords, value  string
	write                  bool
}

// spreadSurfaces replaces accesses to surfaces in the PTX of llc, and makes the parameters that are
// their handles pointers.
func spreadSurfaces(raw []byte, kernels []kernelFacts) []byte {
	text := string(raw)
	if !strings.Contains(text, "sust.") {
		return raw
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := entryHeadRE.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end := i
		for end < len(lines) && lines[end] != "}" {
			end++
		}
		for k := range kernels {
			if kernels[k].name == m[1] {
				spreadKernel(lines[i:end], &kernels[k])
			}
		}
		i = end
	}
	return []byte(strings.Join(lines, "\n"))
}

// spreadKernel replaces the accesses to surfaces in the lines of a kernel, if all can be.
func spreadKernel(lines []string, k *kernelFacts) {
	var list []surfaceAccess
	for i, line := range lines {
		if !surfaceRE.MatchString(line) {
			continue
		}
		a, ok := readSurface(line)
		if !ok {
			return
		}
		a.line = i
		list = append(list, a)
	}
	origins := paramRegisters(lines, k.name)
	written := map[paramOrigin]bool{}
	for _, a := range list {
		p, ok := origins[a.handle]
		if !ok {
			return
		}
		written[p] = written[p] || a.write
	}
	for _, a := range list {
		if a.mode == "clamp" && written[origins[a.handle]] {
			return
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(written)), true) {
		return
	}
	for _, a := range list {
		lines[a.line] = a.text()
		if p := origins[a.handle]; p.offset == 0 && p.index < len(k.params) &&
			k.params[p.index].Type == "i64" {
			k.params[p.index].Pointer, k.params[p.index].Type = true, "ptr"
		}
	}
}

// readSurface reads an access to a surface; ok is false for a form that is not replaced.
func readSurface(line string) (a surfaceAccess, ok bool) {
	line = strings.ReplaceAll(strings.TrimSpace(line), "\t", " ")
	if m := suldRE.FindStringSubmatch(line); m != nil {
		a = surfaceAccess{0, m[1], m[2], m[3], m[4], m[6], m[7], strings.TrimSpace(m[5]), false}
	} else if m := sustRE.FindStringSubmatch(line); m != nil {
		a = surfaceAccess{0, m[1], m[2], m[3], m[4], m[5], m[6], m[7], true}
	}
	return a, len(splitTop(a.coords)) >= len(surfaceBits[a.geometry]) && a.handle != "" &&
		surfaceBits[a.geometry] != nil
}

// paramOrigin is a parameter, or a part of it at an offset.
type paramOrigin struct{ index, offset int }

// paramRegisters returns the registers that hold a parameter, or a part of one, and nothing else.
func paramRegisters(lines []string, kernel string) map[string]paramOrigin {
	out := map[string]paramOrigin{}
	copies := map[string]string{}
	writes := map[string]int{}
	for _, line := range lines {
		line = strings.ReplaceAll(strings.TrimSpace(line), "\t", " ")
		for strings.Contains(line, "  ") {
			line = strings.ReplaceAll(line, "  ", " ")
		}
		if m := writtenRE.FindStringSubmatch(line); m != nil {
			writes[m[1]]++
		}
		if m := paramLoadRE.FindStringSubmatch(line); m != nil && m[2] == kernel {
			index, _ := strconv.Atoi(m[3])
			offset, _ := strconv.Atoi(m[4])
			out[m[1]] = paramOrigin{index, offset}
		} else if m := regCopyRE.FindStringSubmatch(line); m != nil {
			copies[m[1]] = m[2]
		}
	}
	for range copies { // chains of copies
		for to, from := range copies {
			if p, ok := out[from]; ok && writes[from] == 1 {
				out[to] = p
			}
		}
	}
	for r := range out {
		if writes[r] != 1 {
			delete(out, r)
		}
	}
	return out
}

// text returns the access as one to memory, on one line, so that all others keep their place.
func (a *surfaceAccess) text() string {
	coords := splitTop(a.coords)
	if strings.HasPrefix(a.geometry, "a") { // the layer is first
		n := len(surfaceBits[a.geometry])
		coords = append(append([]string{}, coords[1:n]...), coords[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\t{ .reg .b32 hsc; .reg .b64 hsa, hsb; mov.b64 hsa, %s;", a.handle)
	shift := uint(0)
	for i, bits := range surfaceBits[a.geometry] {
		fmt.Fprintf(&b, " and.b32 hsc, %s, %d; cvt.u64.u32 hsb, hsc; shl.b64 hsb, hsb, %d;"+
			" add.s64 hsa, hsa, hsb;", strings.TrimSpace(coords[i]), 1<<bits-1, shift)
		shift += bits
	}
	if a.write {
		fmt.Fprintf(&b, " st.global%s.u%s [hsa], %s; }", a.vector, a.size, a.value)
	} else {
		fmt.Fprintf(&b, " ld.global%s.u%s %s, [hsa]; }", a.vector, a.size, a.value)
	}
	return b.String()
}
