// Package litmus reads litmus tests for PTX: programs of a few threads with a condition on their
// final states. The format is the one of herd as Dat3M uses it for PTX; docs/theory/memory-model.md
// describes it. What lies outside of the fragment of memmodel is refused by name.
package litmus

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// Test is a litmus test.
type Test struct {
	Name      string
	Doc       string // the quoted text below the name
	Locations []Location
	Threads   []Thread
	Condition Condition
	Observed  []Term // what `locations [...]` names besides the condition
	Expect    Expectation
}

// Location is a variable in memory.
type Location struct {
	Name  string
	Value int64 // initially
}

// Thread is the program of one thread.
type Thread struct {
	Name     string // P0
	Position memmodel.Position
	Code     []Inst
	Regs     []Register
}

// Register is a register of a thread.
type Register struct {
	Name  string
	Value int64 // initially
}

// Expectation is what a test says about itself in lines KEY=VALUE above its declarations. Values
// that are not given are empty.
type Expectation struct {
	Verdict string // Expect=Ok or Expect=No: whether the condition holds
	Race    string // Race=yes or Race=no: whether an execution has a data race
	Hang    string // Hang=yes or Hang=no: whether an execution does not end
}

// Stated reports whether the test states anything.
func (e Expectation) Stated() bool { return e != Expectation{} }

// Op is the kind of an instruction.
type Op uint8

// The instructions.
const (
	Load Op = iota
	Store
	Atom
	Red
	Fence
	Bar
	Compute // a register from others
	Branch  // conditional
	Goto
)

// Fn is what an instruction computes.
type Fn uint8

// The functions of Compute, Atom and Red. Exch and CAS are those of Atom alone.
const (
	Copy Fn = iota
	Add
	Sub
	Mul
	Div
	And
	Or
	Xor
	Exch
	CAS
)

// Apply returns the value of a function; ok is false for a division by zero, whose value the PTX
// ISA leaves unspecified (9.7.1.6).
func (f Fn) Apply(a, b int64) (v int64, ok bool) {
	switch f {
	case Copy:
		return a, true
	case Add:
		return a + b, true
	case Sub:
		return a - b, true
	case Mul:
		return a * b, true
	case Div:
		if b == 0 {
			return 0, false
		}
		return a / b, true
	case And:
		return a & b, true
	case Or:
		return a | b, true
	case Xor:
		return a ^ b, true
	}
	return b, true // Exch, and the new value of CAS
}

// Operand is a register or a constant.
type Operand struct {
	IsReg bool
	Reg   int // index into Thread.Regs
	Value int64
}

// Inst is one instruction. Which fields it uses follows from Op.
type Inst struct {
	Pos    Pos
	Text   string // as written
	Op     Op
	Fn     Fn
	Order  event.Order
	Scope  event.Scope
	Loc    int // index into Test.Locations
	Dst    int // index into Thread.Regs
	A, B   Operand
	Cond   Relation // of Branch
	Target int      // of Branch and Goto: index into Thread.Code, or its length

	// A barrier is known by its first two operands. Without a count, the threads of the CTA that can
	// still arrive at it take part.
	Name     [2]Operand
	Count    Operand
	HasCount bool
	Arrive   bool // does not wait
}

// Pos is a place in a file. Both count from 1.
type Pos struct{ Line, Col int }

// Error is a mistake in a test, or a construct outside of the fragment.
type Error struct {
	File string
	Pos
	Text        string
	Unsupported bool // the test is well-formed, but heddle cannot execute it
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Text)
}
