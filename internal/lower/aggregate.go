package lower

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// Pointers and indices that pass through structs in registers. CuTe's views of an array of
// registers are structs with a pointer to it, which its functions return and pass on. Inlined, they
// are chains of insertvalue and extractvalue, also of parts that are structs, which no pass but
// instcombine simplifies: SROA then takes the array for one whose address is used, and keep.go takes
// accesses by the pointer for those of other threads' memory.

// inserted is what an insertvalue line says.
type inserted struct {
	base  string // the struct, without the new part
	path  []string
	value string // the new part
}

// extracted is what an extractvalue line says.
type extracted struct {
	from string // the struct
	path []string
}

// scalarRE matches the type of an operand that is neither a struct nor an array.
var scalarRE = lazyregexp.New(`^(?:ptr(?: addrspace\(\d+\))?|i\d+|half|bfloat|float|double)\b`)

// forwardParts replaces each extractvalue of a scalar that an insertvalue of the same function has
// put there by a copy of that scalar.
func forwardParts(m *irModule) {
	for _, f := range m.funcs {
		ins, ext := map[string]inserted{}, map[string]extracted{}
		for i, line := range f.body {
			result, rest, ok := strings.Cut(line, " = ")
			op, args, _ := strings.Cut(rest, " ")
			if !ok || op != "insertvalue" && op != "extractvalue" {
				continue
			}
			args, _ = splitAttach(args)
			ops, path := aggregateOperands(args)
			name := strings.TrimSpace(result)
			if op == "insertvalue" {
				ins[name] = inserted{valueOf(ops[0]), path, ops[1]}
				continue
			}
			from := extracted{valueOf(ops[0]), path}
			ext[name] = from
			value := find(from, ins, ext)
			if typ := scalarRE.FindString(value); typ != "" {
				f.body[i] = fmt.Sprintf("%s = bitcast %s to %s%s", result, value, typ,
					strings.TrimPrefix(rest, op+" "+args))
			}
		}
		f.deriveLocals()
	}
}

// maxForward bounds the steps of a search. Code that cannot be reached may have cycles.
const maxForward = 1000

// find returns the operand that was inserted where e extracts; "" if that is not known.
func find(e extracted, ins map[string]inserted, ext map[string]extracted) string {
	for range maxForward {
		if outer, ok := ext[e.from]; ok {
			e = extracted{outer.from, slices.Concat(outer.path, e.path)}
			continue
		}
		in, ok := ins[e.from]
		if !ok {
			return ""
		}
		n := min(len(in.path), len(e.path))
		switch {
		case !slices.Equal(in.path[:n], e.path[:n]):
			e.from = in.base
		case n < len(in.path): // a struct of which one part is new
			return ""
		case n == len(e.path):
			return in.value
		default:
			e = extracted{valueOf(in.value), e.path[n:]}
		}
	}
	return ""
}

// aggregateOperands splits what follows insertvalue or extractvalue into its operands with their
// types, two or one, and the indices.
func aggregateOperands(args string) (ops, path []string) {
	all := splitTop(args)
	i := slices.IndexFunc(all, func(a string) bool { return strings.Trim(a, "0123456789") == "" })
	return all[:i], all[i:]
}

// valueOf returns the value of an operand with its type.
func valueOf(operand string) string { return operand[strings.LastIndexByte(operand, ' ')+1:] }

// constantRE matches the definition of a scalar constant that host code cannot change.
var constantRE = lazyregexp.New(
	`^(@\S+) = [a-z_ ]*addrspace\(4\) constant ((?:i\d+|float|double) [^ ,]+)(?:, .*)?$`)

// constantLoadRE matches a load of such a constant.
var constantLoadRE = lazyregexp.New(
	`^(  \S+) = load (\S+), ptr addrspace\(4\) (@[^ ,]+)(?:, align \d+)?((?:, !.*)?)$`)

// foldConstants replaces loads of constants by their values: the number of rounds of a loop may be
// a static constexpr variable of a function.
func foldConstants(m *irModule) {
	values := make(map[string]string)
	for _, line := range m.head {
		if s := constantRE.FindStringSubmatch(line); s != nil && !strings.Contains(line, "externally") {
			values[s[1]] = s[2]
		}
	}
	if len(values) == 0 {
		return
	}
	for _, f := range m.funcs {
		for i, line := range f.body {
			if !strings.Contains(line, constantSpace) {
				continue
			}
			s := constantLoadRE.FindStringSubmatch(line)
			if s == nil {
				continue
			}
			if value := values[s[3]]; strings.HasPrefix(value, s[2]+" ") {
				f.body[i] = fmt.Sprintf("%s = bitcast %s to %s%s", s[1], value, s[2], s[4])
			}
		}
	}
}
