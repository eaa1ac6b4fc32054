package lower

import (
	"fmt"
	"strings"

	"heddle/internal/lazyregexp"
)

// Once SROA has moved a variable to registers, reading it before any write yields undef, and so
// does every computation with that value. llc removes a store of undef, even if it is volatile, and
// with it a race of the source. So values that may be undefined are frozen where they are stored:
// the value is arbitrary, but the store stays.

// undefined is the set of the values of a function that may be undefined, by name.
type undefined map[string]bool

// An undefined constant, and a use of a value.
var (
	undefRE = lazyregexp.New(`\b(undef|poison)\b`)
	usedRE  = lazyregexp.New(`%[-\w.$]+|%"[^"]*"`)
)

// findUndefined returns the values of a function that may be undefined, by iterating to a fixed
// point: with loops a value can be used above its definition. It assumes the worst of every
// operand, which costs a freeze and no access.
func findUndefined(body []string) undefined {
	var out undefined
	for changed := true; changed; {
		changed = false
		for _, line := range body {
			name, rest := opcode(line)
			if name == "" || out[name] || len(out) == 0 && !undefRE.MatchString(rest) {
				continue
			}
			if out.spreads(rest) {
				if out == nil {
					out = undefined{}
				}
				out[name], changed = true, true
			}
		}
	}
	return out
}

// spreads reports whether the result of an instruction may be undefined because an operand is.
// Loads and calls return whatever memory or the callee has, which llc does not know to be
// undefined; a freeze ends the chain.
func (u undefined) spreads(rest string) bool {
	op, args, _ := strings.Cut(rest, " ")
	switch op {
	case "load", "call", "tail", "notail", "musttail", "alloca", "freeze", "atomicrmw", "cmpxchg":
		return false
	// start from an undefined aggregate and fill it
	case "insertelement", "shufflevector", "insertvalue":
	default:
		if undefRE.MatchString(args) {
			return true
		}
	}
	for _, v := range usedRE.FindAllString(args, -1) {
		if u.has(v) {
			return true
		}
	}
	return false
}

// has reports whether a value "%x" may be undefined.
func (u undefined) has(value string) bool {
	symbol, ok := strings.CutPrefix(value, "%")
	if !ok || len(u) == 0 {
		return false
	}
	name, _ := readSymbol(symbol)
	return u[name]
}

// operand returns the type of an operand, and whether the operand may be undefined.
func (u undefined) operand(op string) (typ string, ok bool) {
	i := strings.LastIndexByte(op, ' ')
	if i < 0 {
		return "", false
	}
	v := op[i+1:]
	return op[:i], v == "undef" || v == "poison" || u.has(v)
}

// certain replaces a store or memset of a value that may be undefined by one of a frozen value.
// freeze is a line to insert before it; n makes the name in it unique.
func (u undefined) certain(line string, n int) (freeze, store string, ok bool) {
	_, rest := opcode(line)
	name := fmt.Sprintf("%%heddle.any%d", n)
	if args, isStore := strings.CutPrefix(rest, "store "); isStore {
		args = strings.TrimPrefix(strings.TrimPrefix(args, "atomic "), "volatile ")
		ops := splitTop(args)
		if len(ops) == 0 {
			return "", "", false
		}
		value := ops[0]
		typ, ok := u.operand(value)
		if !ok {
			return "", "", false
		}
		return fmt.Sprintf("  %s = freeze %s\n", name, value),
			strings.Replace(line, value, typ+" "+name, 1), true
	}
	if !isCopy(line) {
		return "", "", false
	}
	before, ops, after := copyCall(line)
	if len(ops) != 4 || !strings.HasPrefix(ops[1], "i8 ") { // not a memset
		return "", "", false
	}
	typ, ok := u.operand(ops[1])
	if !ok {
		return "", "", false
	}
	freeze = fmt.Sprintf("  %s = freeze %s\n", name, ops[1])
	ops[1] = typ + " " + name
	return freeze, before + "(" + strings.Join(ops, ", ") + ")" + after, true
}
