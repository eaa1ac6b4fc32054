package syntax

// loc is the position of a token in a file. A token from a macro is at the macro's name where it is
// used.
type loc struct {
	file   string
	offset int // -1: nowhere
	size   int // length of the token in bytes
	macro  bool
	spelt  int // offset of the spelling in its own file; distinguishes tokens of the same macro use
	length int // of the spelling, if macro
}

var nowhere = loc{offset: -1}

// node is a node of clang's tree, reduced to the fields that are used.
type node struct {
	kind       string // "IfStmt"; empty for a part that is left out, such as the condition of for (;;)
	begin, end loc
	at         loc // of the declared name
	name       string
	mangled    string
	refers     string // name of the declaration that an expression refers to
	id         string // of a declaration of a variable or a parameter
	target     string // id of the declaration that an expression refers to
	typ        string // of a kind in typed, with typedefs as written
	cast       string // of an implicit conversion: "LValueToRValue"
	op         string // of an operator: "+="
	storage    string // of a declaration: "static"
	constexpr  bool
	hasElse    bool
	kids       []*node
}

// typed lists the kinds of nodes whose type is read.
var typed = map[string]bool{"VarDecl": true, "BinaryOperator": true, "CompoundAssignOperator": true,
	"UnaryOperator": true, "ParmVarDecl": true, "DeclRefExpr": true}

// node reads a node whose opening brace has been read. inner is called at the children and must
// read or skip them.
func (s *scanner) node(n *node, inner func() error) error {
	n.begin, n.end, n.at = nowhere, nowhere, nowhere
	return s.object(true, func(key string) (err error) {
		switch key {
		case "kind":
			n.kind, err = s.stringValue()
		case "name":
			n.name, err = s.stringValue()
		case "mangledName":
			n.mangled, err = s.stringValue()
		case "id":
			n.id, err = s.stringValue()
		case "type":
			err = s.typeOf(n)
		case "castKind":
			n.cast, err = s.stringValue()
		case "opcode":
			n.op, err = s.stringValue()
		case "storageClass":
			n.storage, err = s.stringValue()
		case "constexpr":
			n.constexpr, err = s.boolValue()
		case "hasElse":
			n.hasElse, err = s.boolValue()
		case "loc":
			n.at, err = s.location()
		case "range":
			err = s.rangeOf(n)
		case "referencedDecl":
			err = s.reference(n)
		case "inner":
			err = inner()
		default:
			err = s.skip()
		}
		return err
	})
}

// typeOf reads the type of a node of a kind in typed, and skips other types. clang prints "kind"
// first.
func (s *scanner) typeOf(n *node) error {
	if !typed[n.kind] {
		return s.skip()
	}
	return s.object(false, func(key string) (err error) {
		if key != "qualType" {
			return s.skip()
		}
		n.typ, err = s.stringValue()
		return err
	})
}

// rangeOf reads the source range of a node. Its end is the start of the last token.
func (s *scanner) rangeOf(n *node) error {
	return s.object(false, func(key string) (err error) {
		switch key {
		case "begin":
			n.begin, err = s.location()
		case "end":
			n.end, err = s.location()
		default:
			err = s.skip()
		}
		return err
	})
}

// reference reads the declaration that an expression refers to.
func (s *scanner) reference(n *node) error {
	return s.object(false, func(key string) (err error) {
		switch key {
		case "name":
			n.refers, err = s.stringValue()
		case "id":
			n.target, err = s.stringValue()
		default:
			err = s.skip()
		}
		return err
	})
}

// tree reads a node with everything below it. Its opening brace has been read.
func (s *scanner) tree() (*node, error) {
	n := new(node)
	err := s.node(n, func() error {
		return s.array(func() error {
			kid, err := s.tree()
			n.kids = append(n.kids, kid)
			return err
		})
	})
	return n, err
}

// location reads a location. For a token from a macro, clang prints where it is spelled and where
// it is expanded; the expansion counts.
func (s *scanner) location() (loc, error) {
	out := nowhere
	var spelling loc
	macro := false
	err := s.object(false, func(key string) (err error) {
		switch key {
		case "offset":
			out.offset, err = s.intValue()
			out.file = s.file
		case "file":
			if out.file, err = s.stringValue(); err == nil {
				s.file = out.file
			}
		case "tokLen":
			out.size, err = s.intValue()
		case "spellingLoc":
			spelling, err = s.location()
		case "expansionLoc":
			macro = true
			out, err = s.location()
		case "includedFrom":
			file := s.file
			err = s.skip()
			s.file = file
		default:
			err = s.skip()
		}
		return err
	})
	if macro {
		out.macro, out.spelt, out.length = true, spelling.offset, spelling.size
	}
	return out, err
}
