package lower

import (
	"fmt"
	"strings"
)

// Keeping every access.
//
// The passes after clang may forward a store to a load, merge two loads, drop a dead store or a load whose
// value is unused, and move a load past a branch: each hides a race of the source. No list of
// passes and flags rules that out in llc (its SelectionDAG merges equal loads and drops unused ones at -O0
// too), but one property does at every level: LLVM never removes, merges, splits, duplicates or reorders
// volatile accesses (LangRef, "Volatile Memory Accesses"). So every plain load and store that may touch
// memory of other threads is marked volatile before llc, which then may run at its ordinary level, and the
// mark is taken off in the PTX (ptxtext.go), where each access carries an id that says whether the user
// had written volatile.
//
// Between clang and llc only passes run that do not touch such accesses: inlining, SROA and mem2reg (this
// thread's locals), address-space inference. SROA alone drops something: the part of a struct copy that
// is not used. Copies are therefore written out before opt (copies.go).
//
// What the front end itself omits stays omitted: an expression statement `s[t];` reads nothing in C++.

func isCopy(line string) bool {
	return strings.Contains(line, "@llvm.mem") && strings.Contains(line, "call void @llvm.mem")
}

// copyCall splits a call of llvm.memcpy, memmove or memset into what precedes its arguments, the
// arguments, and what follows.
func copyCall(line string) (before string, ops []string, after string) {
	i := strings.IndexByte(line, '@')
	j := strings.IndexByte(line[i:], '(')
	if j < 0 {
		return line, nil, ""
	}
	args, after := bracketed(line[i+j:])
	return line[:i+j], splitTop(args), after
}

// volatileCopy sets the last argument of a copy, isvolatile, unless it stays within this thread's frame.
func (f *irFunc) volatileCopy(line string) (string, access) {
	before, ops, after := copyCall(line)
	switch {
	case len(ops) != 4:
		return line, otherMemory
	case ops[3] == "i1 true":
		return line, keptAccess
	case f.localOperand(ops[0]) && (!isPointerArg(ops[1]) || f.localOperand(ops[1])):
		return line, localAccess
	}
	ops[3] = "i1 true"
	return before + "(" + strings.Join(ops, ", ") + ")" + after, plainAccess
}

func isPointerArg(op string) bool {
	return strings.HasPrefix(op, "ptr") || strings.Contains(op, "* ")
}

// localOperand reports whether an operand "ptr align 4 %x" is memory of this thread.
func (f *irFunc) localOperand(op string) bool {
	i := strings.LastIndexByte(op, ' ')
	if i < 0 || i+1 >= len(op) || op[i+1] != '%' {
		return false
	}
	name, _ := readSymbol(op[i+2:])
	return f.local[name]
}

// access classifies an instruction line, without attachments, for keepAccess.
type access uint8

const (
	noAccess       access = iota
	plainAccess           // becomes volatile; the mark is taken off again
	keptAccess            // volatile or atomic by the user's will: left as it is
	localAccess           // this thread's own memory
	otherMemory           // atomics and calls: never touched, but given an id of their own
	constantAccess        // a load with !invariant.load: through the read-only cache
)

// keepAccess returns the line with its volatile mark, and what it is.
func (f *irFunc) keepAccess(line string, invariant bool) (string, access) {
	res, rest := opcode(line)
	op, args, _ := strings.Cut(rest, " ")
	switch op {
	case "load", "store":
		if strings.HasPrefix(args, "volatile ") || strings.HasPrefix(args, "atomic ") {
			return line, keptAccess
		}
		if f.localOperand(beforeAlign(args)) {
			return line, localAccess
		}
		kind := plainAccess
		if invariant {
			kind = constantAccess
		}
		prefix := "  "
		if res != "" {
			prefix = line[:strings.Index(line, " = ")+3]
		}
		return prefix + op + " volatile " + args, kind
	case "call", "tail", "notail", "musttail":
		if !isCopy(line) {
			return line, otherMemory
		}
		return f.volatileCopy(line)
	case "atomicrmw", "cmpxchg", "fence":
		return line, otherMemory
	}
	return line, noAccess
}

// constantSpace is how LLVM writes a pointer to constant memory.
const constantSpace = "ptr addrspace(4) "

// constantStore turns a store to constant memory, which PTX has no instruction for, into one to a generic
// address, so that the access reaches the PTX and is reported where a thread executes it. cast is a line that
// comes before; n makes a name in it unique.
func constantStore(line string, n int) (cast, store string, ok bool) {
	_, rest := opcode(line)
	args, isStore := strings.CutPrefix(rest, "store ")
	if !isStore || !strings.Contains(args, constantSpace) {
		return "", "", false
	}
	ops := splitTop(args)
	if len(ops) < 2 {
		return "", "", false
	}
	p, isConstant := strings.CutPrefix(ops[1], constantSpace)
	if !isConstant {
		return "", "", false
	}
	name := fmt.Sprintf("%%heddle.constant%d", n)
	ops[1] = "ptr " + name
	// Inline assembly, since llc would see through an addrspacecast.
	cast = fmt.Sprintf("  %s = call ptr asm \"cvta.const.u64 $0, $1;\", \"=l,l\"(%s%s)\n", name, constantSpace, p)
	return cast, "  store " + strings.Join(ops, ", "), true
}

// beforeAlign returns the operands of a load or store up to ", align N".
func beforeAlign(args string) string {
	if i := strings.LastIndex(args, ", align "); i >= 0 {
		return args[:i]
	}
	return args
}
