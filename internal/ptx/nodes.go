// Package ptx scans, parses and prints PTX text, the whole grammar up to ISA 9.x. The tree keeps what was
// written; which opcodes exist and what they mean is the business of package isa, and names are resolved
// by package irgen.
package ptx

import "heddle/internal/source"

// Node is a directive, declaration, comment or block.
type Node interface{ Span() source.Span }

// Decl is a directive or definition at module level: *Directive, *FileDir, *Section, *Var, *Func, *Prototype,
// *Loc or *Comment.
type Decl interface {
	Node
	decl()
}

// node carries the span of a Node.
type node struct{ Sp source.Span }

// Span returns the text range of the node.
func (n node) Span() source.Span { return n.Sp }

// Directive is a directive with operands that has no node of its own: .version, .target, .address_size,
// .pragma, .maxntid, .reqntid, .minnctapersm, .maxnreg, .explicitcluster, .reqnctapercluster, .branchtargets,
// .calltargets, .alias, .noreturn ... A list of .branchtargets and .calltargets follows its Label.
type Directive struct {
	node
	Name string   // with its dot
	Args Operands // numbers, names, strings
}

// FileDir is .file index "name"{, timestamp, size}.
type FileDir struct {
	node
	Index int64
	Name  string
	Extra []int64 // timestamp and size, if written
}

// Loc is .loc file line column {, function_name label{+off}, inlined_at file line column}.
type Loc struct {
	node
	File, Line, Col int64
	FuncName        string // label in .debug_str; empty without
	FuncOff         int64
	Inlined         bool
	InFile          int64
	InLine, InCol   int64
}

// Section is .section name { ... } with its raw data lines, or a run of the @@DWARF lines of PTX 1.x
// (ISA 11.5.1) that belong to one section.
type Section struct {
	node
	Name  string
	DWARF bool   // written as @@DWARF lines
	Flags string // of @@DWARF .section: what follows the name, such as `, "", @progbits`
	Data  []SectionItem
}

// SectionItem is a label of a section, or data of a width: what consecutive lines of that width hold, but a
// single line of @@DWARF.
type SectionItem struct {
	Span  source.Span
	Label string   // "name" of "name:"; empty for data
	Type  string   // "b8" ... "b64"; "byte", "4byte" or "quad" in @@DWARF lines
	Args  Operands // numbers, labels, label differences
}

// Comment is a comment that starts with "// heddle": facts that the lowering step or the user left in
// the text. Other comments are dropped. One that stands inside of a statement comes after it in the tree,
// and one in a function's header comes first in its body.
type Comment struct {
	node
	Text string // without the slashes and surrounding space
}

// Linkage of a definition.
type Linkage uint8

const (
	NoLinkage Linkage = iota
	Visible
	Extern
	Weak
	Common
)

// Var declares a variable or registers: .reg .f32 %f<4>; .shared .align 4 .b8 buf[64]; .param .u64 p.
type Var struct {
	node
	Linkage  Linkage
	Space    string   // "reg", "shared", "local", "const", "global", "param", "tex", "sreg"
	Bank     string   // attributes after the space as written: "::cta", "[3]"
	Align    int64    // 0 if not written
	Vec      int      // 2 or 4 for .v2 and .v4, else 0
	Type     string   // without its dot
	Ptr      *Ptr     // .ptr attribute of a kernel parameter
	Attrs    []string // .attribute(...) contents, such as ".managed" and ".unified(19,95)", without spaces
	Names    []VarName
	TypeSpan source.Span
}

// Ptr is the .ptr attribute of a parameter: .ptr{.space}{.align N}.
type Ptr struct {
	Space string // "" for generic
	Align int64
}

// VarName is one declared name.
type VarName struct {
	Name string
	Span source.Span
	// Range is n of name<n>, declaring name0 .. name(n-1); 0 if absent.
	Range int64
	// Dims are array dimensions; -1 stands for [].
	Dims []int64
	Init *Init
}

// Init is an initialiser: a constant expression, or a brace list.
type Init struct {
	Span   source.Span
	Member string  // "filter_mode" of filter_mode = nearest, in lists of .samplerref and .texref; else empty
	Value  Operand // none for a list
	List   []*Init
	Braces bool
}

// Func is .entry or .func, a declaration or a definition.
type Func struct {
	node
	Linkage   Linkage
	Entry     bool
	Attrs     []string // .attribute(...) contents
	Results   []*Var   // .func (.param .b32 r) name
	Name      string
	NameSpan  source.Span
	Params    []*Var
	Variadic  bool         // "..." ends the parameters
	HasParens bool         // a parameter list was written, perhaps empty
	Dirs      []*Directive // performance directives between header and body
	Body      *Block       // nil for a declaration
}

// Prototype is label: .callprototype (ret) _ (params) ;
type Prototype struct {
	node
	Name     string
	Results  []*Var
	Params   []*Var
	Dirs     []*Directive
	Variadic bool
}

func (*Directive) decl() {}
func (*FileDir) decl()   {}
func (*Section) decl()   {}
func (*Comment) decl()   {}
func (*Var) decl()       {}
func (*Func) decl()      {}
func (*Prototype) decl() {}
func (*Loc) decl()       {}

// Error is one mistake in the text.
type Error struct {
	Span source.Span
	Msg  string // what was found and what was expected
}

// Error returns the message without the position; package source formats positions.
func (e *Error) Error() string { return e.Msg }
