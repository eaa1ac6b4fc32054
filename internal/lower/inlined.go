package lower

import (
	"slices"
	"strings"
)

// LLVM's NVPTX back end crashes on a call that returns a packed struct with an integer of 128 bits
// in it, up to LLVM 19 at least. clang packs a struct where a base class has an alignment of its
// own, as tensors of CuTe have. Such calls are inlined, whatever the user says of the function.

// inlineCrashing marks the calls that the back end cannot lower to be inlined.
func inlineCrashing(m *irModule) {
	if !slices.ContainsFunc(m.head, func(line string) bool { return strings.Contains(line, "i128") }) {
		return
	}
	l := newLayouts(m.head)
	for _, f := range m.funcs {
		for i, line := range f.body {
			before, typ, ok := strings.Cut(line, "call %")
			if !ok || strings.Contains(before, `"`) {
				continue
			}
			_, n := readSymbol(typ)
			if !strings.HasPrefix(typ[n:], " @") {
				continue
			}
			if packed, wide := l.crashes("%"+typ[:n], 0); packed && wide {
				f.body[i] = markCall(line)
			}
		}
	}
}

// crashes reports whether a struct is packed, and whether an integer of 128 bits is in it.
func (l *layouts) crashes(typ string, depth int) (packed, wide bool) {
	if depth > maxDepth || typ == "" {
		return false, false
	}
	inside := ""
	switch {
	case typ == "i128":
		return false, true
	case typ[0] == '%':
		return l.crashes(l.named[typ], depth+1)
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
		p, w := l.crashes(field, depth+1)
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
