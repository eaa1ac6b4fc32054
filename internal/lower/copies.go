package lower

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// A struct copy is a call of llvm.memcpy. SROA removes the unused parts of a local copy, and with
// them reads of shared or global memory. Before opt runs, expandCopies therefore replaces these
// copies by a load and a store per scalar: loads stay even if their value is unused. Copies of more
// than maxElements scalars or maxCopy bytes, or of a size that is not constant, stay calls: SROA
// splits these, and keeps each part that is in memory of other threads (TestLargeCopy).

// maxCopy is the largest copy that is expanded, in bytes.
const maxCopy = 256

// expandCopies expands the copies of all functions. The names of new values start with
// %heddle.PREFIX; each call for a module needs a different prefix.
func expandCopies(m *irModule, prefix string) {
	l := newLayouts(m.head)
	for _, f := range m.funcs {
		types := f.pointees()
		var body []string
		for _, line := range f.body {
			if lines := f.expandCopy(line, l, types, m.meta,
				fmt.Sprintf("%%heddle.%s%d", prefix, len(body))); lines != nil {
				body = append(body, lines...)
			} else {
				body = append(body, line)
			}
		}
		f.body = body
		f.deriveLocals()
	}
}

// copyOperand is one pointer argument of a copy.
type copyOperand struct {
	typ, name string // "ptr", "%x"
	align     int64  // bytes
}

// operandAlignRE matches the alignment of an operand.
var operandAlignRE = lazyregexp.New(` align (\d+)`)

// parseOperand parses an operand such as "ptr align 4 %x".
func parseOperand(op string) copyOperand {
	o := copyOperand{align: 1}
	if m := operandAlignRE.FindStringSubmatch(op); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		o.align = max(n, 1)
	}
	o.typ, _ = paramType(op)
	if i := strings.LastIndexByte(op, ' '); i >= 0 {
		o.name = op[i+1:]
	}
	return o
}

// expandCopy returns the lines that replace a memcpy, with values named after name; nil if the line
// is not replaced.
func (f *irFunc) expandCopy(line string, l *layouts, types, meta map[string]string,
	name string) []string {
	if !strings.Contains(line, "call void @llvm.memcpy.") {
		return nil
	}
	text, dbg := splitAttach(line)
	_, ops, _ := copyCall(text)
	if len(ops) != 4 || ops[3] != "i1 false" || f.localOperand(ops[0]) && f.localOperand(ops[1]) {
		return nil
	}
	size, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(ops[2], "i64 "), "i32 "), 10,
		64)
	dst, src := parseOperand(ops[0]), parseOperand(ops[1])
	if err != nil || size <= 0 || size > maxCopy || !strings.HasPrefix(dst.name, "%") &&
		!strings.HasPrefix(dst.name, "@") ||
		!strings.HasPrefix(src.name, "%") && !strings.HasPrefix(src.name, "@") {
		return nil
	}
	elems := copyElements(l, types, dst, src, size)
	elems = withRest(elems, copiedFields(line, meta, size), min(dst.align, src.align))
	attach := ""
	if dbg != "" {
		attach = ", !dbg " + dbg
	}
	var out []string
	add := func(format string, args ...any) {
		out = append(out,
			"  "+fmt.Sprintf(format, args...)+attach)
	}
	for i, e := range elems {
		v := fmt.Sprintf("%s.%d", name, i)
		from := elementAddress(add, v+".src", src, e)
		to := elementAddress(add, v+".dst", dst, e)
		add("%s = load %s, %s, align %d", v, e.typ, from, alignAt(src.align, e))
		add("store %s %s, %s, align %d", e.typ, v, to, alignAt(dst.align, e))
	}
	return out
}

// copyElements returns the scalars of a copy, by the type of its destination or source, else by
// alignment. A type that is larger than the copy is cut: the copy may be of its first fields. The
// scalars decide the widths of the accesses in the PTX, so the type of the source language is best:
// it gives the accesses that a copy field by field would make. There may be bytes between them, and
// behind the last one if the copy ends within a scalar.
func copyElements(l *layouts, types map[string]string, dst, src copyOperand, size int64) []element {
	for _, o := range []copyOperand{dst, src} {
		elems, n, _, ok := l.scalars(types[strings.TrimPrefix(o.name, "%")])
		if !ok || n < size {
			continue
		}
		var within []element
		for _, e := range elems {
			if e.off+e.size <= size {
				within = append(within, e)
			}
		}
		return within
	}
	return chunks(size, min(dst.align, src.align))
}

// fieldRE matches a field in !tbaa.struct.
var fieldRE = lazyregexp.New(`i64 (\d+), i64 (\d+), !`)

// copiedFields returns the parts of a copy that the program can tell from padding. clang names the
// fields of a struct that is assigned, with all of a union as one field; another copy is of all its
// bytes, as memcpy is. The type in LLVM does not say: it is that of one member of a union, and what
// is padding there may be data of another member.
func copiedFields(line string, meta map[string]string, size int64) []element {
	_, node, named := strings.Cut(line, ", !tbaa.struct ")
	if i := strings.IndexByte(node, ','); i >= 0 {
		node = node[:i]
	}
	var fields []element
	for _, m := range fieldRE.FindAllStringSubmatch(meta[node], -1) {
		off, err := strconv.ParseInt(m[1], 10, 64)
		n, err2 := strconv.ParseInt(m[2], 10, 64)
		if err != nil || err2 != nil {
			named = false
			break
		}
		fields = append(fields, element{off: off, size: min(n, size-off)})
	}
	if !named || len(fields) == 0 {
		return []element{{off: 0, size: size}}
	}
	return fields
}

// withRest adds to the scalars of a copy those bytes of its fields that are in none of them.
func withRest(elems, fields []element, align int64) []element {
	for _, f := range fields {
		for at := f.off; at < f.off+f.size; {
			next := f.off + f.size // the rest from at on ends here
			in := false
			for _, e := range elems {
				switch {
				case e.off <= at && at < e.off+e.size:
					at, in = e.off+e.size, true
				case e.off > at:
					next = min(next, e.off)
				}
			}
			if in {
				continue
			}
			a := align
			for a > 1 && at%a != 0 {
				a /= 2
			}
			for _, e := range chunks(next-at, a) {
				elems = append(elems, element{at + e.off, e.size, e.typ})
			}
			at = next
		}
	}
	return elems
}

// elementAddress emits the computation of the address of an element, and returns the address as a
// typed operand.
func elementAddress(add func(string, ...any), name string, o copyOperand, e element) string {
	if strings.HasPrefix(o.typ, "ptr") {
		if e.off == 0 {
			return o.typ + " " + o.name
		}
		add("%s = getelementptr inbounds i8, %s %s, i64 %d", name, o.typ, o.name, e.off)
		return o.typ + " " + name
	}
	to := strings.Replace(o.typ, "i8", e.typ, 1) // LLVM 14: i8* or i8 addrspace(3)*
	add("%s.byte = getelementptr inbounds i8, %s %s, i64 %d", name, o.typ, o.name, e.off)
	add("%s = bitcast %s %s.byte to %s", name, o.typ, name, to)
	return to + " " + name
}

// alignAt returns the known alignment of an element at an offset from a base with the given
// alignment.
func alignAt(base int64, e element) int64 {
	a := base
	for a > 1 && (e.off%a != 0 || a > 16) {
		a /= 2
	}
	return a
}

// The types that an instruction or a parameter names.
var (
	gepTypeRE    = lazyregexp.New(`^getelementptr (?:inbounds |nuw |nusw )*(.+?), (?:ptr|[^,]*\*)`)
	castSourceRE = lazyregexp.New(`^bitcast (.+)\* %`)
	allocaTypeRE = lazyregexp.New(`^alloca (.+?)(?:, |$)`)
	byvalTypeRE  = lazyregexp.New(` byval\((.+?)\) `)
)

// pointees returns the types that pointers point to, by name, where the text contains them: locals,
// elements of arrays, and casts to i8*.
func (f *irFunc) pointees() map[string]string {
	types := make(map[string]string)
	for _, p := range splitParams(f.define) {
		if m := byvalTypeRE.FindStringSubmatch(p); m != nil {
			name, _ := readSymbol(p[strings.LastIndexByte(p, '%')+1:])
			types[name] = m[1]
		}
	}
	for _, line := range f.body {
		text, _ := splitAttach(line)
		res, rest := opcode(text)
		if res == "" {
			continue
		}
		switch {
		case strings.HasPrefix(rest, "alloca "):
			if m := allocaTypeRE.FindStringSubmatch(rest); m != nil {
				types[res] = m[1]
			}
		case strings.HasPrefix(rest, "getelementptr "):
			// With one index the result points to the source element type.
			if m := gepTypeRE.FindStringSubmatch(rest); m != nil && len(splitTop(rest)) == 3 {
				types[res] = m[1]
			}
		case strings.HasPrefix(rest, "bitcast "):
			if m := castSourceRE.FindStringSubmatch(rest); m != nil {
				types[res] = m[1]
			}
		}
	}
	return types
}
