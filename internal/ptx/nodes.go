// Package ptx scans, parses and prints PTX text: the complete grammar up to PTX ISA 9.x. It knows
// syntax only. Any opcode with any modifiers parses; package isa knows which exist and what they
// mean, and package irgen resolves names.
//
// The tree keeps the spelling of the source, so that Print can reproduce it and tools can edit it
// by position. Only comments other than "// heddle" and the layout are lost.
package ptx

import "heddle/internal/source"

// Node is a directive, declaration, comment or block. Instructions, labels and .loc lines inside
// functions are not nodes but records; see Stmt. A type switch over the concrete types is the way
// to process a Node.
type Node interface{ Span() source.Span }

// Decl is a node at module level: *Directive, *FileDir, *Section, *Var, *Func, *Prototype,
// *Loc or *Comment.
type Decl interface {
	Node
	decl()
}

// node holds the span of a Node.
type node struct{ Sp source.Span }

// Span returns the text range of the node.
func (n node) Span() source.Span { return n.Sp }

// Directive is a directive without a node type of its own: .version, .target, .address_size,
// .pragma, .maxntid, .reqntid, .minnctapersm, .maxnreg, .explicitcluster, .reqnctapercluster,
// .branchtargets, .calltargets, .alias, .noreturn and others. The label of a .branchtargets or
// .calltargets list is the statement before it.
type Directive struct {
	node
	Name string   // with its dot
	Args Operands // numbers, names, strings
}

// FileDir is .file index "name"{, timestamp, size} (ISA 11.5.3).
type FileDir struct {
	node
	Index int64   // the number that .loc refers to
	Name  string  // the path, unquoted
	Extra []int64 // timestamp and size, if present
}

// Loc is .loc file line column {, function_name label{+off}, inlined_at file line column} (ISA
// 11.5.4): the source position of the instructions that follow.
type Loc struct {
	node
	File, Line, Col int64  // File is the index of a .file; lines and columns count from 1
	FuncName        string // label in .debug_str of the function's name; empty if absent
	FuncOff         int64  // bytes after that label
	Inlined         bool   // inlined_at is present
	InFile          int64  // the call site that was inlined
	InLine, InCol   int64  // in file InFile
	// CallSites is what LLVM says about inlining in a comment behind a .loc without inlined_at,
	// innermost first: "b.py:7:3 @[ a.py:20:5 ]" for "// c.py:1:2 @[ b.py:7:3 @[ a.py:20:5 ] ]".
	// Empty if there is no such comment.
	CallSites string
}

// Section is .section name { ... } with its data (ISA 11.5.2), or the consecutive @@DWARF lines of
// PTX 1.x (ISA 11.5.1) that belong to one section.
type Section struct {
	node
	Name  string        // with its dot, such as ".debug_info"
	DWARF bool          // written as @@DWARF lines
	Flags string        // of @@DWARF .section: the text after the name, such as `, "", @progbits`
	Data  []SectionItem // in the order of the text
}

// SectionItem is a label of a section, or data of one width: the values of consecutive lines of
// that width, or of a single @@DWARF line.
type SectionItem struct {
	Span  source.Span // of its lines
	Label string      // "name" of "name:"; empty for data
	Type  string      // "b8" ... "b64"; "byte", "4byte" or "quad" in @@DWARF lines
	Args  Operands    // numbers, labels, label differences
}

// Comment is a comment that starts with "// heddle": it carries facts from the lowering step or
// from the user, for example "// heddle.kernel" and "// heddle: grid=4". Other comments are
// dropped. A comment inside a statement follows the statement in the tree, and a comment in the
// header of a function is the first statement of its body.
type Comment struct {
	node
	Text string // without the slashes and surrounding space
}

// Linkage is the linking directive of a definition (ISA 11.6).
type Linkage uint8

const (
	NoLinkage Linkage = iota // local to the module
	Visible                  // .visible
	Extern                   // .extern
	Weak                     // .weak
	Common                   // .common
)

// Var declares a variable or registers: .reg .f32 %f<4>; .shared .align 4 .b8 buf[64]; .param .u64
// p.
type Var struct {
	node
	Linkage Linkage // NoLinkage for parameters and registers
	Space   string  // "reg", "shared", "local", "const", "global", "param", "tex", "sreg"
	Bank    string  // suffix of the space as written: "::cta", "[3]"
	Align   int64   // bytes; 0 if absent
	Vec     int     // 2 or 4 for .v2 and .v4, else 0
	Type    string  // without its dot
	Ptr     *Ptr    // .ptr attribute of a kernel parameter
	// .attribute(...) contents, such as ".managed" and ".unified(19,95)", without spaces
	Attrs    []string
	Names    []VarName   // at least one
	TypeSpan source.Span // of the type
}

// Ptr is the .ptr attribute of a parameter: .ptr{.space}{.align N} (ISA 5.1.6.3).
type Ptr struct {
	Space string // "" for generic
	Align int64  // bytes; 0 if absent
}

// VarName is one declared name.
type VarName struct {
	Name string      // without its range
	Span source.Span // of the name, with its range
	// Range is n in name<n>, which declares name0 to name(n-1); 0 if absent.
	Range int64
	// Dims are the dimensions of an array; -1 for [], which only the first can be.
	Dims []int64
	Init *Init // nil if absent
}

// Init is an initialiser: a constant expression, or a list in braces.
type Init struct {
	Span source.Span // of the expression or the list
	// "filter_mode" in filter_mode = nearest, for .samplerref and .texref; else empty
	Member string
	Value  Operand // the zero Operand for a list
	List   []*Init // the elements of a list
	Braces bool    // it is a list, possibly empty
}

// Func is .entry or .func, a declaration or a definition (ISA 11.2).
type Func struct {
	node
	Linkage   Linkage      // of .visible, .extern or .weak
	Entry     bool         // a kernel
	Attrs     []string     // .attribute(...) contents
	Results   []*Var       // .func (.param .b32 r) name
	Name      string       // as in the text, mangled
	NameSpan  source.Span  // of Name
	Params    []*Var       // in order
	Variadic  bool         // "..." ends the parameters
	HasParens bool         // there is a parameter list, possibly empty
	Dirs      []*Directive // performance directives between header and body
	Body      *Block       // nil for a declaration
}

// Prototype is label: .callprototype (ret) _ (params); the type of an indirect call (ISA 11.3.3).
type Prototype struct {
	node
	Name     string       // the label
	Results  []*Var       // usually at most one
	Params   []*Var       // in order
	Dirs     []*Directive // such as .noreturn
	Variadic bool         // "..." ends the parameters
}

// These types can be at module level.
func (*Directive) decl() {}
func (*FileDir) decl()   {}
func (*Section) decl()   {}
func (*Comment) decl()   {}
func (*Var) decl()       {}
func (*Func) decl()      {}
func (*Prototype) decl() {}
func (*Loc) decl()       {}

// Error is one syntax error.
type Error struct {
	Span source.Span // the text that is wrong
	Msg  string      // "found X, expected Y", without a period
}

// Error returns the message without its position; package source formats positions.
func (e *Error) Error() string { return e.Msg }
