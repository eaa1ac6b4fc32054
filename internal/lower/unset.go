package lower

import (
	"fmt"
	"regexp"
	"strings"
)

// A variable that is read on a way on which nothing was written to it is undef there once SROA has put it into registers, and
// undef takes whatever value suits: of `int x; if (t < 5) x = t; a[x] = 1;` nothing is left but `a[t] = 1`, without the race. So a
// variable gets a frozen value, which may be anything but is one, where its life begins and nothing is seen to be written to it
// first. Where every way writes to it, nothing of that is left in the PTX.
//
// To llc freeze says too little: where two ways meet it gives both the register of the other. So behind opt the frozen value
// becomes a copy of a register that nothing writes, in inline assembly. Before, that would count as a call for the inliner.
//
// Clang marks no beginning for variables that a goto or a switch jumps over, for those that a function returns, and for the result itself, which
// a function may fail to set: they get their value where the function begins.
//
// Arrays get one if they are sure to become registers; those that stay in memory hold anything there.

var lifeRE = regexp.MustCompile(`^  call void @llvm\.lifetime\.start\.p\d+\((?:i64 (?:immarg )?-?\d+, )?ptr (?:\w+(?:\(\w+\))? )*%([-\w.$]+|"[^"]*")\)`)

// setVariables writes a frozen value to each variable at the beginning of its life.
func setVariables(m *irModule) {
	l := newLayouts(m.head)
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
			if elems, _, _, ok := l.scalars(typ); ok && (!l.hasArray(typ, 0) || f.fixedIndices(name)) && !setFirst(f.body[i+1:], name, typ) {
				body = append(body, setUnset(name, elems, len(body))...)
			}
		}
		f.body = body
	}
}

// allocation is the symbol of the variable of fixed size that a line allocates; empty for other lines.
func allocation(line string) string {
	name, rest := opcode(line)
	args, ok := strings.CutPrefix(rest, "alloca ")
	if !ok {
		return ""
	}
	for _, arg := range splitTop(args)[1:] {
		if strings.Contains(arg, "%") { // how many there are
			return ""
		}
	}
	return name
}

// allocated are the types of a function's variables, by their names.
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

// hasArray reports whether a type is an array, or has one in it.
func (l *layouts) hasArray(typ string, depth int) bool {
	switch {
	case depth > 16 || strings.HasPrefix(typ, "["):
		return true
	case strings.HasPrefix(typ, "%"):
		return l.hasArray(l.named[typ], depth+1)
	case strings.HasPrefix(typ, "{"), strings.HasPrefix(typ, "<{"):
		inner, _ := bracketed(strings.TrimPrefix(typ, "<"))
		for _, field := range splitTop(inner) {
			if l.hasArray(field, depth+1) {
				return true
			}
		}
	}
	return false
}

var fixedRE = regexp.MustCompile(`^getelementptr [^%]*ptr (%[-\w.$]+|%"[^"]*")(?:, i\d+ \d+)*$`)

// fixedIndices reports whether nothing is done with a variable but to take the addresses of elements with fixed indices.
func (f *irFunc) fixedIndices(name string) bool {
	for _, line := range f.body {
		text, _ := splitAttach(line)
		for _, v := range usedRE.FindAllString(text, -1) {
			if v != name {
				continue
			}
			_, rest := opcode(text)
			s := fixedRE.FindStringSubmatch(rest)
			if !(s != nil && s[1] == name || strings.HasPrefix(rest, "alloca ") || strings.Contains(rest, "@llvm.lifetime.")) {
				return false
			}
		}
	}
	return true
}

// setFirst reports whether the next thing that is done with a variable, in the block that lines begin in, is to write all of it.
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

// setUnset are the lines that write a frozen value to each scalar of a variable; n makes names in them unique.
func setUnset(name string, elems []element, n int) []string {
	var out []string
	for i, e := range elems {
		at, value := name, fmt.Sprintf("%%heddle.unset%d.%d", n, i)
		if e.off > 0 {
			at = value + ".at"
			out = append(out, fmt.Sprintf("  %s = getelementptr i8, ptr %s, i64 %d", at, name, e.off))
		}
		out = append(out, fmt.Sprintf("  %s = freeze %s undef", value, e.typ), fmt.Sprintf("  store %s %s, ptr %s, align %d", e.typ, value, at, e.size))
	}
	return out
}

var frozenRE = regexp.MustCompile(`^  (%[-\w.$]+) = freeze (i8|i16|i32|i64|half|float|double|ptr) (?:undef|poison)$`)

// opaqueValue is what llc gets in place of a frozen value: a copy of a register that nothing writes.
func opaqueValue(line string) (string, bool) {
	s := frozenRE.FindStringSubmatch(line)
	if s == nil {
		return "", false
	}
	name, typ := s[1], s[2]
	unwritten := func(name, typ, constraint string, bits int) string {
		return fmt.Sprintf(`  %s = call %s asm "{ .reg .b%d unset; mov.b%d $0, unset; }", "=%s"()`, name, typ, bits, bits, constraint)
	}
	switch typ {
	case "i8":
		return unwritten(name+".wide", "i16", "h", 16) + "\n  " + name + " = trunc i16 " + name + ".wide to i8", true
	case "half":
		return unwritten(name+".bits", "i16", "h", 16) + "\n  " + name + " = bitcast i16 " + name + ".bits to half", true
	case "ptr":
		return unwritten(name+".bits", "i64", "l", 64) + "\n  " + name + " = inttoptr i64 " + name + ".bits to ptr", true
	case "i16":
		return unwritten(name, typ, "h", 16), true
	case "i32":
		return unwritten(name, typ, "r", 32), true
	case "i64":
		return unwritten(name, typ, "l", 64), true
	case "float":
		return unwritten(name, typ, "f", 32), true
	}
	return unwritten(name, typ, "d", 64), true
}
