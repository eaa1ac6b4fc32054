package lower

import (
	"fmt"
	"strings"
)

// How every access is kept.
//
// The passes after clang may forward a store to a load, merge two loads, remove a dead store or a
// load whose value is unused, and move a load across a branch. Each of these can hide a race of the
// source. No list of passes and flags prevents this in llc: its SelectionDAG merges equal loads and
// removes unused ones even at -O0. But one property holds at every level: LLVM never removes,
// merges, splits, duplicates or reorders volatile accesses (LangRef, "Volatile Memory Accesses").
// So every plain load and store that may access memory of other threads is marked volatile before
// llc, which can then run at its usual level. ptxtext.go removes the marks from the PTX, where the
// location number of an access tells whether the user had written volatile.
//
// The passes between clang and llc do not affect such accesses: inlining, SROA and mem2reg (locals
// of a thread), and address-space inference. The only exception: SROA removes unused parts of a
// struct copy. Copies are therefore expanded before opt (copies.go).
//
// Accesses that the front end does not emit stay absent: in C++, the expression statement `s[t];`
// reads nothing.

// isCopy reports whether a line calls llvm.memcpy, memmove or memset.
func isCopy(line string) bool {
	return strings.Contains(line, "@llvm.mem") && strings.Contains(line, "call void @llvm.mem")
}

// copyCall splits a call of llvm.memcpy, memmove or memset into the text before its arguments, the
// arguments, and the text after them.
func copyCall(line string) (before string, ops []string, after string) {
	i := strings.IndexByte(line, '@')
	j := strings.IndexByte(line[i:], '(')
	if j < 0 {
		return line, nil, ""
	}
	args, after := bracketed(line[i+j:])
	return line[:i+j], splitTop(args), after
}

// volatileCopy sets isvolatile, the last argument of a copy, unless the copy only accesses memory
// of this thread.
func (f *irFunc) volatileCopy(line string) (string, access) {
	before, ops, after := copyCall(line)
	switch {
	case len(ops) != 4:
		return line, otherMemory
	case ops[3] == "i1 true":
		return line, volatileAccess
	case f.localOperand(ops[0]) && (!isPointerArg(ops[1]) || f.localOperand(ops[1])):
		return line, localAccess
	}
	ops[3] = "i1 true"
	return before + "(" + strings.Join(ops, ", ") + ")" + after, plainAccess
}

// isPointerArg reports whether an operand has a pointer type.
func isPointerArg(op string) bool {
	return strings.HasPrefix(op, "ptr") || strings.Contains(op, "* ")
}

// localOperand reports whether an operand "ptr align 4 %x" points to memory of this thread.
func (f *irFunc) localOperand(op string) bool {
	i := strings.LastIndexByte(op, ' ')
	if i < 0 || i+1 >= len(op) || op[i+1] != '%' {
		return false
	}
	name, _ := readSymbol(op[i+2:])
	return f.local[name]
}

// access classifies an instruction for keepAccess.
type access uint8

const (
	noAccess       access = iota // not a memory instruction
	plainAccess                  // becomes volatile until finishPTX removes the mark
	keptAccess                   // atomic in the source, or optimized (-O): unchanged
	volatileAccess               // volatile in the source: unchanged in CUDA, plain in OpenCL C
	localAccess                  // of memory of this thread: unchanged
	otherMemory                  // an atomic or a call: unchanged, but with its own location number
	constantAccess               // a load with !invariant.load, through the read-only cache
)

// keepAccess returns the line with its volatile mark, if it needs one, and its class. The line has
// no attachments.
func (f *irFunc) keepAccess(line string, invariant bool) (string, access) {
	res, rest := opcode(line)
	op, args, _ := strings.Cut(rest, " ")
	switch op {
	case "load", "store":
		if strings.HasPrefix(args, "volatile ") {
			return line, volatileAccess
		}
		if strings.HasPrefix(args, "atomic ") {
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

// constantSpace is the type of a pointer to constant memory in LLVM IR.
const constantSpace = "ptr addrspace(4) "

// constantStore replaces a store to constant memory, for which PTX has no instruction, by a store
// to a generic address, so that the access is in the PTX and is reported if a thread executes it.
// cast is a line to insert before it; n makes the name in it unique.
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
	// Inline assembly, since llc would optimize an addrspacecast away.
	cast = fmt.Sprintf("  %s = call ptr asm \"cvta.const.u64 $0, $1;\", \"=l,l\"(%s%s)\n", name,
		constantSpace, p)
	return cast, "  store " + strings.Join(ops, ", "), true
}

// beforeAlign returns the operands of a load or store up to ", align N".
func beforeAlign(args string) string {
	if i := strings.LastIndex(args, ", align "); i >= 0 {
		return args[:i]
	}
	return args
}
