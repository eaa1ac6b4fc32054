package ptx

import (
	"iter"
	"strings"

	"heddle/internal/source"
)

// The tree is immutable: Parse builds it, and nothing changes it afterwards.
//
// Most of a module is statements and operands, so these are records of fixed size without pointers,
// in two arrays of the file: there is little to write, and the garbage collector has nothing to
// follow. Names and numbers are ranges of the text. Stmt, Inst and Operand are small values that
// refer to a record.
//
// The parts of a statement or operand are adjacent in the array of operands. The statements of a
// block follow the block in the array of statements, and the block records where they end.

// File is one PTX module.
type File struct {
	Source *source.File // the text, for positions
	Decls  []Decl       // nodes and definitions in the order of the text

	text  string    // of the source, with padding
	stmts []stmt    // of all functions
	ops   []operand // of all statements and nodes
	words []opcode  // distinct opcodes with modifiers
	locs  []Loc     // .loc directives that do not fit into a stmt
	nodes []Node    // statements that are nodes
}

// StmtKind is the kind of a statement. Instructions, labels and .loc lines are frequent, so they
// are records; all other statements are nodes.
type StmtKind uint8

const (
	StmtNode  StmtKind = iota // a directive, declaration, comment or block: see Stmt.Node
	StmtInst                  // an instruction
	StmtLabel                 // name:
	StmtLoc                   // .loc
)

// stmt is the record of a statement, 32 bytes. The fields a to d depend on the kind.
type stmt struct {
	start, end uint32 // of the text
	line       uint32 // of start
	kind       StmtKind
	guard      guardKind
	n          uint16 // operands

	// Instruction: a is the index of its opcode, b the index of its first operand (the name of its
	// guard, if any, is at b-1), and c to d is the range of its opcode. Label: d is the end of its
	// name. .loc: a, b and c are its numbers, unless d is not 0; then d-1 is its index in File.locs.
	// Node: a is its index in File.nodes; for a block, b is the index of the statement after the
	// block.
	a, b, c, d uint32
}

// guardKind is the kind of guard of an instruction.
type guardKind uint8

const (
	noGuard guardKind = iota
	ifTrue            // @p
	ifFalse           // @!p
)

// span returns the range of the text from start to end. line is a hint: the line of start, or one
// near it.
func (f *File) span(start, end, line uint32) source.Span {
	return source.Span{Start: f.Source.PosNear(int(start), int(line)),
		End: f.Source.PosNear(int(end), int(line))}
}

// Block is { ... }, the body of a function or a nested scope. Names that are declared in a block
// are visible only there.
type Block struct {
	node
	file       *File
	first, end uint32 // range in File.stmts, nested blocks included
}

// Stmts iterates over the statements of the block in order. A nested block is one statement.
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

// Stmt is a statement of the body of a function.
type Stmt struct {
	file *File
	i    uint32 // in File.stmts
}

// rec returns the record of the statement.
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

// Inst returns a statement of kind StmtInst as an instruction.
func (s Stmt) Inst() Inst { return Inst(s) }

// Label returns the name of a statement of kind StmtLabel.
func (s Stmt) Label() string { return s.file.text[s.rec().start:s.rec().d] }

// Loc returns the contents of a statement of kind StmtLoc.
func (s Stmt) Loc() Loc {
	r := s.rec()
	if r.d != 0 {
		return s.file.locs[r.d-1]
	}
	l := Loc{File: int64(r.a), Line: int64(r.b), Col: int64(r.c)}
	l.CallSites = callSites(s.file.text[r.end:])
	l.Sp = s.Span()
	return l
}

// callSites returns the call sites in the comment that ends a line, whose rest begins a text.
func callSites(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	comment, ok := strings.CutPrefix(strings.TrimLeft(line, " \t;"), "//")
	if !ok {
		return ""
	}
	_, sites, ok := strings.Cut(comment, " @[ ")
	if !ok {
		return ""
	}
	sites, ok = strings.CutSuffix(strings.TrimRight(sites, " \t\r"), " ]")
	if !ok {
		return ""
	}
	return sites
}

// Node returns the node of a statement of kind StmtNode: *Var, *Block, *Directive, *Prototype,
// *Comment, *Section or *FileDir.
func (s Stmt) Node() Node { return s.file.nodes[s.rec().a] }

// Inst is one instruction.
type Inst Stmt

// rec returns the record of the instruction.
func (in Inst) rec() *stmt { return &in.file.stmts[in.i] }

// Span returns the text range of the instruction, from its guard to its ';'.
func (in Inst) Span() source.Span { return Stmt(in).Span() }

// Opcode returns the opcode without modifiers: "ld" for ld.shared.u32.
func (in Inst) Opcode() string { return in.file.words[in.rec().a].name }

// Mods returns the modifiers in order, without dots. Instructions with the same spelling share the
// slice, which must not be changed.
func (in Inst) Mods() []string { return in.file.words[in.rec().a].mods }

// Text returns the opcode with its modifiers, without white space.
func (in Inst) Text() string { return in.file.words[in.rec().a].text }

// Word returns the number of the opcode with its modifiers, from 0 to File.Words()-1. Instructions
// of a file have the same number exactly if they have the same spelling.
func (in Inst) Word() int { return int(in.rec().a) }

// Words returns the number of distinct opcodes with modifiers in the file.
func (f *File) Words() int { return len(f.words) }

// OpSpan returns the text range of the opcode with its modifiers. Messages about an opcode point at
// it.
func (in Inst) OpSpan() source.Span {
	r := in.rec()
	return in.file.span(r.c, r.d, r.line)
}

// Operands returns the operands of the instruction in order, without the guard.
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
	return Guard{Name: in.file.text[p.start:p.end], Neg: r.guard == ifFalse,
		Span: in.file.span(r.start, p.end, r.line)}, true
}

// Guard is @p or @!p: the instruction executes only in threads where the predicate holds.
type Guard struct {
	Name string      // the predicate register
	Neg  bool        // @!p
	Span source.Span // from '@' to the end of the name
}
