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
// becomes the result of an empty piece of assembly, which it knows nothing of. Before, that would count as a call for the inliner.
//
// Arrays are left out: those that stay in memory hold anything there.

var lifeRE = regexp.MustCompile(`^  call void @llvm\.lifetime\.start\.p\d+\((?:i64 (?:immarg )?-?\d+, )?ptr (?:\w+(?:\(\w+\))? )*%([-\w.$]+|"[^"]*")\)`)

// setVariables writes a frozen value to each variable at the beginning of its life.
func setVariables(m *irModule) {
	l := newLayouts(m.head)
	for _, f := range m.funcs {
		types := f.allocated()
		var body []string
		for i, line := range f.body {
			body = append(body, line)
			s := lifeRE.FindStringSubmatch(line)
			if s == nil {
				continue
			}
			typ := types[strings.Trim(s[1], `"`)]
			if elems, _, _, ok := l.scalars(typ); ok && !l.hasArray(typ, 0) && !setFirst(f.body[i+1:], "%"+s[1], typ) {
				body = append(body, setUnset("%"+s[1], elems, len(body))...)
			}
		}
		f.body = body
	}
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

// opaqueValue is the line for llc in place of a frozen value, of which nothing else is known.
func opaqueValue(line string) (string, bool) {
	s := frozenRE.FindStringSubmatch(line)
	if s == nil {
		return "", false
	}
	asm := func(name, typ, constraint string) string {
		return fmt.Sprintf("  %s = call %s asm \"\", \"=%s\"()", name, typ, constraint)
	}
	name := s[1]
	switch typ := s[2]; typ {
	case "i8":
		return asm(name+".wide", "i16", "h") + "\n  " + name + " = trunc i16 " + name + ".wide to i8", true
	case "half":
		return asm(name+".bits", "i16", "h") + "\n  " + name + " = bitcast i16 " + name + ".bits to half", true
	case "ptr":
		return asm(name+".bits", "i64", "l") + "\n  " + name + " = inttoptr i64 " + name + ".bits to ptr", true
	default:
		return asm(name, typ, map[string]string{"i16": "h", "i32": "r", "i64": "l", "float": "f", "double": "d"}[typ]), true
	}
}
