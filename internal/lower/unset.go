package lower

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// A variable that is read on a path without a write to it is undef there, once SROA has moved it to
// registers, and the compiler may choose any value for undef: `int x; if (t < 5) x = t; a[x] = 1;`
// becomes `a[t] = 1`, without the race. So a variable gets a frozen value, which is arbitrary but
// fixed, at the start of its lifetime, unless the next instruction that uses it overwrites it. If
// all paths write to the variable, nothing of this is left in the PTX.
//
// freeze is not enough for llc: at a merge point it may assign the register of either path to the
// other. So after opt the frozen value becomes a copy of a register that nothing writes, in inline
// assembly. Before opt the inliner would count that as a call.
//
// clang does not mark the lifetime of variables that a goto or a switch jumps over, of those that a
// function returns, and of the result itself, which a function may fail to set. They get their
// value at the start of the function.
//
// Arrays that stay in memory have arbitrary contents anyway, so the stores to their elements are
// removed again.

// lifeRE matches the start of the lifetime of a variable.
var lifeRE = lazyregexp.New(
	`^  call void @llvm\.lifetime\.start\.p\d+\((?:i64 (?:immarg )?-?\d+, )?` +
		`ptr (?:\w+(?:\(\w+\))? )*%([-\w.$]+|"[^"]*")\)`)

// maxUnset bounds the scalars of a variable that gets a frozen value.
const maxUnset = 4096

// setVariables stores a frozen value to all bytes of each variable at the start of its lifetime.
func setVariables(m *irModule) {
	l, n := newLayouts(m.head), 0
	l.most, l.wide = maxUnset, true
	for _, f := range m.funcs {
		types := f.allocated()
		marked := map[string]bool{}
		for _, line := range f.body {
			if s := lifeRE.FindStringSubmatch(line); s != nil {
				marked[strings.Trim(s[1], `"`)] = true
			}
		}
		var body []string
		for i, line := range f.body {
			body = append(body, line)
			var symbol string
			if s := lifeRE.FindStringSubmatch(line); s != nil {
				symbol = s[1]
			} else if name := allocation(line); name != "" && !marked[name] {
				symbol = name
			} else {
				continue
			}
			typ := types[strings.Trim(symbol, `"`)]
			name := "%" + symbol
			elems, size, align, ok := l.scalars(typ)
			if !ok {
				continue
			}
			// padding of the type may be data of another member of a union
			all := withRest(elems, []element{{off: 0, size: size}}, align)
			if len(all) > len(elems) || !setFirst(f.body[i+1:], name, typ) {
				body = append(body, setUnset(name, all, n)...)
				n++
			}
		}
		f.body = body
	}
}

// allocation returns the name of the variable that a line allocates, if its size is fixed; "" for
// other lines.
func allocation(line string) string {
	name, rest := opcode(line)
	args, ok := strings.CutPrefix(rest, "alloca ")
	if !ok {
		return ""
	}
	for _, arg := range splitTop(args)[1:] {
		if strings.Contains(arg, "%") { // a variable number of elements
			return ""
		}
	}
	return name
}

// allocated returns the types of a function's variables by name.
func (f *irFunc) allocated() map[string]string {
	out := map[string]string{}
	for _, line := range f.body {
		if name, rest := opcode(line); name != "" {
			if args, ok := strings.CutPrefix(rest, "alloca "); ok {
				out[name] = splitTop(args)[0]
			}
		}
	}
	return out
}

// setFirst reports whether the first use of a variable, in the block that lines start in, stores to
// all of it. Then its initial value cannot be read. It gives up at the end of the block, where SROA
// removes an unused value anyway.
func setFirst(lines []string, name, typ string) bool {
	for _, line := range lines {
		if !strings.HasPrefix(line, "  ") {
			return false
		}
		for _, v := range usedRE.FindAllString(line, -1) {
			if v != name {
				continue
			}
			_, rest := opcode(line)
			args, isStore := strings.CutPrefix(rest, "store "+typ+" ")
			if !isStore {
				return false
			}
			ops := splitTop(args)
			return len(ops) > 1 && ops[1] == "ptr "+name && ops[0] != name && !undefRE.MatchString(ops[0])
		}
	}
	return false
}

// setUnset returns the lines that store a frozen value to each of the given scalars of a variable.
// n is the number of the variable.
func setUnset(name string, elems []element, n int) []string {
	var out []string
	for i, e := range elems {
		at, value := name, fmt.Sprintf("%%heddle.unset%d.%d", n, i)
		if len(elems) > 1 {
			at = fmt.Sprintf("%%heddle.unsetat%d.%d", n, i)
			out = append(out, fmt.Sprintf("  %s = getelementptr i8, ptr %s, i64 %d", at, name, e.off))
		}
		out = append(out, fmt.Sprintf("  %s = freeze %s undef", value, e.typ),
			fmt.Sprintf("  store %s %s, ptr %s, align %d", e.typ, value, at, e.size))
	}
	return out
}

// unsetStoreRE matches a store of setUnset to a variable of several scalars.
var unsetStoreRE = lazyregexp.New(
	`^  store \w+ %heddle\.unset(\d+\.\d+)\b[\w.]*, ptr %heddle\.unsetat(\d+\.\d+)\b`)

// forgetUnset removes the stores of setUnset that are left after opt, those to variables of several
// scalars that stay in memory, and the values and addresses that only they use.
func forgetUnset(m *irModule) {
	for _, f := range m.funcs {
		f.body = slices.DeleteFunc(f.body, func(line string) bool {
			s := unsetStoreRE.FindStringSubmatch(line)
			return s != nil && s[1] == s[2]
		})
		used := map[string]int{}
		for _, line := range f.body {
			if strings.Contains(line, "%heddle.unset") {
				for _, name := range usedRE.FindAllString(line, -1) {
					used[name]++
				}
			}
		}
		f.body = slices.DeleteFunc(f.body, func(line string) bool {
			name, _ := opcode(line)
			return strings.HasPrefix(name, "heddle.unset") && used["%"+name] == 1
		})
	}
}

// frozenRE matches a frozen undefined scalar, with a debug location in the text for llc.
var frozenRE = lazyregexp.New(
	`^  (%[-\w.$]+) = freeze (i8|i16|i32|i64|half|bfloat|float|double|` +
		`ptr(?: addrspace\(\d+\))?) (?:undef|poison)(?:, !dbg !\d+)?$`)

// opaqueValues replaces the frozen undefined scalars of a module.
func opaqueValues(ir []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(ir) {
		if bytes.Contains(line, []byte(" = freeze ")) {
			if value, ok := opaqueValue(string(bytes.TrimSuffix(line, []byte{'\n'}))); ok {
				out.WriteString(value)
				out.WriteByte('\n')
				continue
			}
		}
		out.Write(line)
	}
	return out.Bytes()
}

// opaqueValue returns the lines that replace a frozen undefined scalar for llc: a copy of a
// register that nothing writes. Inline assembly has no 8-bit, half or pointer operands, so these
// are converted from integers.
func opaqueValue(line string) (string, bool) {
	s := frozenRE.FindStringSubmatch(line)
	if s == nil {
		return "", false
	}
	name, typ := s[1], s[2]
	unwritten := func(name, typ, constraint string, bits int) string {
		return fmt.Sprintf(`  %s = call %s asm "{ .reg .b%d unset; mov.b%d $0, unset; }", "=%s"()`, name,
			typ, bits, bits, constraint)
	}
	if ptx, constraint := ptxRegister(typ); ptx != "" {
		return unwritten(name, typ, constraint, int(8*scalarSize(typ))), true
	}
	switch typ {
	case "i8":
		return unwritten(name+".wide", "i16", "h", 16) + "\n  " + name + " = trunc i16 " + name +
			".wide to i8", true
	case "half", "bfloat":
		return unwritten(name+".bits", "i16", "h", 16) + "\n  " + name + " = bitcast i16 " + name +
			".bits to " + typ, true
	}
	return unwritten(name+".bits", "i64", "l", 64) + "\n  " + name + " = inttoptr i64 " + name +
		".bits to " + typ, true
}
