package launch

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// hostAPI are the functions of the CUDA runtime whose effect is understood, with the least number
// of arguments.
var hostAPI = map[string]int{"cudaMalloc": 2, "cudaMallocManaged": 2, "cudaMallocHost": 2,
	"cudaHostAlloc": 2, "cudaMallocAsync": 2, "cudaMemset": 3, "cudaMemsetAsync": 3, "cudaMemcpy": 4,
	"cudaMemcpyAsync": 4, "cudaMemcpyToSymbol": 3, "cudaMemcpyToSymbolAsync": 3,
	"cudaGetSymbolAddress": 2, "cudaFuncSetAttribute": 3, "swap": 2}

// api applies the effect of a call of one of hostAPI. parts are its arguments.
func (x *exec) api(name string, parts [][2]int) {
	arg := func(i int) value { return x.known(x.toks[parts[i][0]:parts[i][1]]) }
	switch name {
	case "cudaMemset", "cudaMemsetAsync":
		x.memset(arg(0), arg(1), arg(2))
		x.overwritten(parts[0])
	case "cudaMemcpy", "cudaMemcpyAsync":
		x.memcpy(arg(0), arg(2), func() ([]byte, bool) {
			if data, ok := x.bytesOf(parts[1]); ok {
				n, constant := arg(2).integer().Constant()
				return data, constant && n == int64(len(data))
			}
			return x.bytes(arg(1), arg(2))
		})
		x.overwritten(parts[0])
	case "cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync":
		x.toSymbol(parts)
	case "cudaGetSymbolAddress":
		symbol := symbolName(x.toks[parts[1][0]:parts[1][1]])
		lv, ok := x.pointee(parts[0])
		if !ok || symbol == "" {
			x.forgetTarget(parts[0])
			return
		}
		r := newRoot(symbol)
		r.symbol = symbol
		x.store(lv[0], lv[1], value{kind: aPointer, root: r, off: number(0)})
	case "cudaFuncSetAttribute":
		if slices.ContainsFunc(x.toks[parts[1][0]:parts[1][1]], func(t token) bool {
			return strings.HasSuffix(t.text, "MaxDynamicSharedMemorySize")
		}) {
			x.limit(symbolName(x.toks[parts[0][0]:parts[0][1]]), arg(2))
		}
	case "swap":
		x.swap(parts)
	default:
		x.mapped = x.mapped || name != "cudaMalloc" && name != "cudaMallocAsync"
		x.allocate(parts, arg(1))
	}
}

// pointee returns the tokens of the lvalue whose address an argument is: d of (void **)&d.
func (x *exec) pointee(p [2]int) (lvalue [2]int, ok bool) {
	for i := p[0]; i < p[1]-1; i++ {
		if x.toks[i].is("&") && x.isPrefix(i) {
			return [2]int{i + 1, p[1]}, true
		}
	}
	return p, false
}

// overwritten makes unknown what a copy to an argument changes besides the memory that pointers
// name: a variable whose address is given, and what was read through pointers.
func (x *exec) overwritten(p [2]int) {
	x.epoch++
	lv, ok := x.pointee(p)
	if !ok || slices.ContainsFunc(x.toks[lv[0]:lv[1]], func(t token) bool { return t.is("[") }) {
		return
	}
	if c := x.variable(x.toks[lv[0]].text); c != nil {
		x.forget(c)
	}
}

// forgetTarget makes unknown what a function stores through an argument.
func (x *exec) forgetTarget(p [2]int) {
	for i := p[0]; i < p[1]; i++ {
		if x.toks[i].kind == tokIdent {
			x.forgetNamed(x.toks[i].text)
		}
	}
}

// allocate gives the variable whose address the first argument is new memory.
func (x *exec) allocate(parts [][2]int, size value) {
	lv, ok := x.pointee(parts[0])
	if !ok {
		x.forgetTarget(parts[0])
		return
	}
	toks := x.toks[lv[0]:lv[1]]
	r := newRoot(x.fresh(text(toks)))
	r.mem.val.n = size.integer()
	v := value{kind: aPointer, root: r, off: number(0)}
	if c := x.variable(toks[0].text); c != nil && len(toks) == 1 {
		v.elem = c.typ.elemSize()
	}
	x.store(lv[0], lv[1], v)
}

// target returns where a function of the CUDA runtime writes, if the contents there may become known.
func (x *exec) target(to value) (address, bool) {
	if to.kind != aPointer || x.isKept[to.root] {
		x.dropKept()
		return address{}, false
	}
	return address{to.root, to.off, to.elem}, true
}

// memset fills memory. Contents are known only if all of it is filled, or if those of the rest are.
func (x *exec) memset(to, with, size value) {
	a, ok := x.target(to)
	if !ok {
		return
	}
	m := a.root.mem.val
	b, constant := with.integer().Constant()
	start, atStart := a.off.Constant()
	n := size.integer()
	if constant && atStart && start == 0 && n != nil && m.n != nil && m.n.Equal(n) {
		x.assign(a.root.mem, value{kind: aMemory, n: m.n, fill: int(b & 0xff)})
		return
	}
	if count, ok := n.Constant(); ok && constant && atStart && 0 <= count && count <= maxOverlaid {
		x.overlay(a.root.mem, start, bytes.Repeat([]byte{byte(b)}, int(count)))
		return
	}
	x.forget(a.root.mem)
}

// maxOverlaid bounds the bytes of memory of which a part is written and the rest stays known.
const maxOverlaid = 1 << 16

// overlay writes bytes to a part of memory. Contents are known if those of all of it were.
func (x *exec) overlay(c *cell, start int64, data []byte) {
	m := c.val
	size, ok := m.n.Constant()
	if !ok || start < 0 || size > maxOverlaid || start+int64(len(data)) > size {
		x.forget(c)
		return
	}
	var all []byte
	switch {
	case m.data != nil && int64(len(m.data)) == size && m.fill >= 0:
		all = slices.Clone(m.data)
	case m.data == nil && m.fill >= 0:
		all = bytes.Repeat([]byte{byte(m.fill)}, int(size))
	default:
		x.forget(c)
		return
	}
	copy(all[start:], data)
	x.assign(c, value{kind: aMemory, n: m.n, data: all})
}

// memcpy copies memory. Contents are known only if all of the target is copied from known bytes, or
// if those of the rest are.
func (x *exec) memcpy(to, size value, source func() ([]byte, bool)) {
	a, ok := x.target(to)
	if !ok {
		return
	}
	m := a.root.mem.val
	data, known := source()
	start, atStart := a.off.Constant()
	n := size.integer()
	switch {
	case known && atStart && start == 0 && m.n != nil && m.n.Equal(n):
		x.assign(a.root.mem, value{kind: aMemory, n: m.n, data: data})
	case known && atStart:
		x.overlay(a.root.mem, start, data)
	default:
		x.forget(a.root.mem)
	}
}

// bytesOf returns the bytes of the integer whose address an argument is, &one; false if it is another
// expression, or the value is not known.
func (x *exec) bytesOf(p [2]int) ([]byte, bool) {
	lv, ok := x.pointee(p)
	if !ok || lv[1] != lv[0]+1 {
		return nil, false
	}
	c := x.variable(x.toks[lv[0]].text)
	if c == nil || c.typ.class != classInteger || c.typ.ptr > 0 || c.typ.array != 0 || c.typ.size == 0 {
		return nil, false
	}
	n, ok := c.val.integer().Constant()
	return binary.LittleEndian.AppendUint64(nil, uint64(n))[:c.typ.size], ok
}

// bytes returns the first bytes of what a pointer points to; false if they are unknown.
func (x *exec) bytes(from, size value) ([]byte, bool) {
	if from.kind != aPointer {
		return nil, false
	}
	m := from.root.mem.val
	n, ok := size.integer().Constant()
	start, atStart := from.off.Constant()
	if !ok || !atStart || start < 0 || n < 0 || start+n > int64(len(m.data)) || m.fill < 0 {
		return nil, false
	}
	return m.data[start : start+n], true
}

// toSymbol sets a module variable of the device: to the value of a variable whose address is given,
// or to the contents of an array.
func (x *exec) toSymbol(parts [][2]int) {
	name := symbolName(x.toks[parts[0][0]:parts[0][1]])
	if name == "" {
		return
	}
	c := x.symbols[name]
	if c == nil {
		c = &cell{name: name, val: x.object(name)}
		x.symbols[name] = c
	}
	if len(parts) > 3 { // an offset
		if n, ok := x.eval(x.toks[parts[3][0]:parts[3][1]]).integer().Constant(); !ok || n != 0 {
			x.forget(c)
			return
		}
	}
	size := x.known(x.toks[parts[2][0]:parts[2][1]])
	if lv, ok := x.pointee(parts[1]); ok {
		v := x.known(x.toks[lv[0]:lv[1]])
		if a, isPointer := v.pointer(); isPointer {
			x.retain(a.root)
		}
		if s := x.variable(x.toks[lv[0]].text); s != nil {
			c.typ = s.typ
		}
		x.assign(c, v)
		return
	}
	data, ok := x.bytes(x.known(x.toks[parts[1][0]:parts[1][1]]), size)
	if !ok {
		x.forget(c)
		return
	}
	x.assign(c, value{kind: aMemory, data: data})
}

// symbolName returns the name of a function or variable that an argument is: k of (void *)k<int>.
func symbolName(toks []token) string {
	name := ""
	for i, t := range toks {
		if t.kind == tokIdent && (i == 0 || !toks[i-1].is("<")) && !qualifiers[t.text] &&
			typeSizes[t.text] == 0 && t.text != "void" {
			name = t.text
			if i+1 < len(toks) && toks[i+1].is("<") {
				return name
			}
		}
	}
	return name
}

// limit records the dynamic shared memory that a kernel may have.
func (x *exec) limit(kernel string, bytes value) {
	c := x.limits[kernel]
	if c == nil {
		c = &cell{name: kernel, typ: ctype{class: classInteger, size: 4}, val: x.object(kernel)}
		x.limits[kernel] = c
	}
	x.assign(c, bytes)
}

// swap exchanges two variables.
func (x *exec) swap(parts [][2]int) {
	var cells [2]*cell
	for i := range cells {
		if p := parts[i]; p[1] == p[0]+1 {
			cells[i] = x.variable(x.toks[p[0]].text)
		}
	}
	if cells[0] == nil || cells[1] == nil || cells[0].typ != cells[1].typ || cells[0].typ.rec != nil {
		x.forgetTarget(parts[0])
		x.forgetTarget(parts[1])
		return
	}
	a, b := cells[0].val, cells[1].val
	x.assign(cells[0], b)
	x.assign(cells[1], a)
}
