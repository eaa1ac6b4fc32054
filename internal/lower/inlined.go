package lower

import (
	"slices"
	"strings"
)

// Calls that are inlined whatever their size is, and whatever the user says of the function:
//
//   - those that LLVM's NVPTX back end crashes on, up to LLVM 19 at least: of functions that return
//     a packed struct with integers of 128 bits in it. clang packs a struct where a base class has
//     an alignment of its own, as tensors of CuTe have;
//   - those of functions with wgmma, tcgen05.mma or copies of tensors, as nvcc inlines them.
//     Accumulators are registers (unroll.go), and an array that such a function gets by reference
//     is in memory unless it is inlined; and a trace knows a tensor map by its place, which it
//     cannot follow through the objects of lambda functions.

// inlineNecessary marks these calls.
func inlineNecessary(m *irModule) {
	wide := m.declares("i128")
	with := withTensors(m)
	if !wide && with == nil {
		return
	}
	l := newLayouts(m.head)
	for _, f := range m.funcs {
		for i, line := range f.body {
			name, typ := callOf(line)
			switch {
			case name == "":
			case with[name], wide && strings.HasPrefix(typ, "%") && l.crashes(typ):
				f.body[i] = markCall(line)
			}
		}
	}
}

// withTensors returns the functions that contain wgmma or a copy of a tensor, or refer to one that
// does: CuTe passes the function with the statement by a pointer.
func withTensors(m *irModule) map[string]bool {
	var work []string
	for _, f := range m.funcs {
		if slices.ContainsFunc(f.body, hasTensors) {
			work = append(work, f.name)
		}
	}
	if work == nil {
		return nil
	}
	users := make(map[string][]string)
	for _, f := range m.funcs {
		for _, line := range f.body {
			references(line, func(name string) {
				if u := users[name]; len(u) == 0 || u[len(u)-1] != f.name {
					users[name] = append(u, f.name)
				}
			})
		}
	}
	with := make(map[string]bool)
	for len(work) > 0 {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		if !with[name] {
			with[name] = true
			work = append(work, users[name]...)
		}
	}
	return with
}

// hasTensors reports whether a line contains an operation of wgmma or a copy of a tensor.
func hasTensors(line string) bool {
	return hasMatrices(line) || strings.Contains(line, "cp.async.bulk.tensor")
}

// hasMatrices reports whether a line contains an operation of wgmma on an accumulator, or
// tcgen05.mma.
func hasMatrices(line string) bool {
	return strings.Contains(line, "wgmma.mma_async") || strings.Contains(line, "tcgen05.mma")
}

// callOf returns the name of the function that a line calls, and what the line says in front of it,
// which ends with the type of the result; "" if it calls none by its name.
func callOf(line string) (name, before string) {
	at := strings.Index(line, " @")
	if at < 0 {
		return "", ""
	}
	_, rest := opcode(line[:at])
	for _, kind := range []string{"call ", "tail call ", "notail call ", "musttail call "} {
		if before, ok := strings.CutPrefix(rest, kind); ok && !strings.Contains(before, "asm ") {
			name, _ = readSymbol(line[at+2:])
			return name, before
		}
	}
	return "", ""
}

// crashes reports whether a struct, or a part of it, is packed, and has an integer of 128 bits in
// it.
func (l *layouts) crashes(typ string) bool {
	packed, wide := l.contains(typ, 0)
	return packed && wide
}

// contains reports whether a type, or a part of it, is packed, and whether it has an integer of 128
// bits in it.
func (l *layouts) contains(typ string, depth int) (packed, wide bool) {
	if depth > maxDepth || typ == "" {
		return false, false
	}
	inside := ""
	switch {
	case typ == "i128":
		return false, true
	case typ[0] == '%':
		return l.contains(l.named[typ], depth+1)
	case strings.HasPrefix(typ, "<{"):
		packed = true
		inside, _ = bracketed(typ[1:])
	case typ[0] == '{':
		inside, _ = bracketed(typ)
	case typ[0] == '[':
		inside, _ = bracketed(typ)
		_, inside, _ = strings.Cut(inside, " x ")
	}
	for _, field := range splitTop(inside) {
		p, w := l.contains(field, depth+1)
		packed, wide = packed || p, wide || w
	}
	return packed, wide
}

// markCall returns a call of a function by its name with the attribute to be inlined.
func markCall(line string) string {
	at := strings.Index(line, " @") + 2
	_, n := readSymbol(line[at:])
	_, after := bracketed(line[at+n:])
	return line[:len(line)-len(after)] + " alwaysinline" + after
}
