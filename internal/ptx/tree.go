package ptx

import (
	"iter"

	"heddle/internal/source"
)

// The tree is for reading: Parse makes it, and it does not change after.
//
// Statements and operands are most of a module, so they are records of fixed size without pointers, in two
// arrays of the file: little to write, and nothing for the garbage collector to follow. Names and numbers are
// ranges of the text. Stmt, Inst and Operand are small values that refer to a record.
//
// The parts of a statement or operand stand next to each other in the array of operands. The statements of a
// block follow it in the array of statements, and the block knows where they end.

// File is one PTX module.
type File struct {
	Source *source.File
	Decls  []Decl // directives and definitions in the order of the text

	text  string // of the source, with padding
	stmts []stmt
	ops   []operand
	words []opcode
	locs  []Loc  // those that do not fit into a stmt
	nodes []Node // statements that have a node of their own
}

// StmtKind is the kind of a statement.
type StmtKind uint8

const (
	StmtNode  StmtKind = iota // a directive, declaration, comment or block: see Stmt.Node
	StmtInst                  // an instruction
	StmtLabel                 // name:
	StmtLoc                   // .loc
)

// stmt is the record of a statement: 32 bytes.
type stmt struct {
	start, end uint32 // of the text
	line       uint32 // of start
	kind       StmtKind
	guard      guardKind
	n          uint16 // operands

	// An instruction: a is the index of its opcode, b that of its first operand, which the name of its guard
	// precedes, and c to d the range of its opcode. A label: d is the end of its name. A .loc: a, b and c are its
	// numbers, or d is one more than its index in File.locs. A node: a is its index, and b for a block the
	// index of the statement after it.
	a, b, c, d uint32
}

type guardKind uint8

const (
	noGuard guardKind = iota
	ifTrue            // @p
	ifFalse           // @!p
)

// span returns the range of the text from start to end. Line is the line of start, or near it.
func (f *File) span(start, end, line uint32) source.Span {
	return source.Span{Start: f.Source.PosNear(int(start), int(line)), End: f.Source.PosNear(int(end), int(line))}
}

// Block is { ... }, a function's body or a nested scope.
type Block struct {
	node
	file       *File
	first, end uint32 // in File.stmts
}

// Stmts returns the statements of the block; those of blocks within are parts of these.
func (b *Block) Stmts() iter.Seq[Stmt] {
	return func(yield func(Stmt) bool) {
		for i := b.first; i < b.end; {
			s := &b.file.stmts[i]
			at := i
			i++
			if s.kind == StmtNode && s.b > at {
				i = s.b
			}
			if !yield(Stmt{b.file, at}) {
				return
			}
		}
	}
}

// Stmt is a statement of a function's body.
type Stmt struct {
	file *File
	i    uint32
}

func (s Stmt) rec() *stmt { return &s.file.stmts[s.i] }

// Kind returns the kind of the statement.
func (s Stmt) Kind() StmtKind { return s.rec().kind }

// Span returns the text range of the statement.
func (s Stmt) Span() source.Span {
	r := s.rec()
	if r.kind == StmtNode {
		return s.file.nodes[r.a].Span()
	}
	return s.file.span(r.start, r.end, r.line)
}

// Inst returns a statement of kind StmtInst.
func (s Stmt) Inst() Inst { return Inst(s) }

// Label returns the name of a statement of kind StmtLabel.
func (s Stmt) Label() string { return s.file.text[s.rec().start:s.rec().d] }

// Loc returns what a statement of kind StmtLoc says.
func (s Stmt) Loc() Loc {
	r := s.rec()
	if r.d != 0 {
		return s.file.locs[r.d-1]
	}
	l := Loc{File: int64(r.a), Line: int64(r.b), Col: int64(r.c)}
	l.Sp = s.Span()
	return l
}

// Node returns a statement of kind StmtNode: *Var, *Block, *Directive, *Prototype, *Comment, *Section or
// *FileDir.
func (s Stmt) Node() Node { return s.file.nodes[s.rec().a] }

// Inst is one instruction.
type Inst Stmt

func (in Inst) rec() *stmt { return &in.file.stmts[in.i] }

// Span returns the text range of the instruction with its guard and ';'.
func (in Inst) Span() source.Span { return Stmt(in).Span() }

// Opcode returns the first word.
func (in Inst) Opcode() string { return in.file.words[in.rec().a].name }

// Mods returns the dotted modifiers in order, without dots. Instructions of one spelling share them.
func (in Inst) Mods() []string { return in.file.words[in.rec().a].mods }

// Text returns the opcode with its modifiers, without blanks.
func (in Inst) Text() string { return in.file.words[in.rec().a].text }

// Word numbers the opcodes with modifiers of a file by their spelling, from 0 to File.Words()-1.
func (in Inst) Word() int { return int(in.rec().a) }

// Words returns the number of different opcodes with modifiers in the file.
func (f *File) Words() int { return len(f.words) }

// OpSpan returns the text range of the opcode with its modifiers.
func (in Inst) OpSpan() source.Span {
	r := in.rec()
	return in.file.span(r.c, r.d, r.line)
}

// Operands returns the operands.
func (in Inst) Operands() Operands {
	r := in.rec()
	return Operands{in.file, r.b, uint32(r.n), r.line}
}

// Guard returns the guard of the instruction, and whether it has one.
func (in Inst) Guard() (Guard, bool) {
	r := in.rec()
	if r.guard == noGuard {
		return Guard{}, false
	}
	p := &in.file.ops[r.b-1]
	return Guard{Name: in.file.text[p.start:p.end], Neg: r.guard == ifFalse, Span: in.file.span(r.start, p.end, r.line)}, true
}

// Guard is @p or @!p.
type Guard struct {
	Name string
	Neg  bool
	Span source.Span
}
