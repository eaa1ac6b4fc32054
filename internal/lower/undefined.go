package lower

import (
	"fmt"
	"regexp"
	"strings"
)

// What is read of a variable that nothing was written to is undef once SROA has put the variable into registers, and so is what
// is computed of it. llc drops a store of such a value, volatile or not, and with it a race of the source. So values
// that may be undefined are frozen where they are stored: each is anything then, but the store is there.

// undefined holds the names of the values of a function that may be undefined.
type undefined map[string]bool

var (
	undefRE = regexp.MustCompile(`\b(undef|poison)\b`)
	usedRE  = regexp.MustCompile(`%[-\w.$]+|%"[^"]*"`)
)

// findUndefined goes through the lines of a function's body.
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
func (u undefined) spreads(rest string) bool {
	op, args, _ := strings.Cut(rest, " ")
	switch op {
	case "load", "call", "tail", "notail", "musttail", "alloca", "freeze", "atomicrmw", "cmpxchg":
		return false
	case "insertelement", "shufflevector", "insertvalue": // begin with an undefined whole, to be filled
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

// has looks up a value, "%x".
func (u undefined) has(value string) bool {
	symbol, ok := strings.CutPrefix(value, "%")
	if !ok || len(u) == 0 {
		return false
	}
	name, _ := readSymbol(symbol)
	return u[name]
}

// operand returns the type of an operand that may be undefined.
func (u undefined) operand(op string) (typ string, ok bool) {
	i := strings.LastIndexByte(op, ' ')
	if i < 0 {
		return "", false
	}
	v := op[i+1:]
	return op[:i], v == "undef" || v == "poison" || u.has(v)
}

// certain turns a store or a memset of a value that may be undefined into one of a frozen value. freeze is a line that comes
// before; n makes a name in it unique.
func (u undefined) certain(line string, n int) (freeze, store string, ok bool) {
	_, rest := opcode(line)
	name := fmt.Sprintf("%%heddle.any%d", n)
	if args, isStore := strings.CutPrefix(rest, "store "); isStore {
		args = strings.TrimPrefix(strings.TrimPrefix(args, "atomic "), "volatile ")
		value := splitTop(args)[0]
		typ, ok := u.operand(value)
		if !ok {
			return "", "", false
		}
		return fmt.Sprintf("  %s = freeze %s\n", name, value), strings.Replace(line, value, typ+" "+name, 1), true
	}
	if !isCopy(line) {
		return "", "", false
	}
	before, ops, after := copyCall(line)
	if len(ops) != 4 || !strings.HasPrefix(ops[1], "i8 ") { // no memset
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
