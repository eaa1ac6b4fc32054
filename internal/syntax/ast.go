package syntax

// loc is where a token is in a file: of what a macro expands to, the macro's name where it is used.
type loc struct {
	file   string
	offset int // -1: nowhere
	size   int // of the token
	macro  bool
	spelt  int // offset of the spelling, in whatever file; tells apart what one use of a macro expands to
}

var nowhere = loc{offset: -1}

// node is a node of clang's tree, with what is wanted of it.
type node struct {
	kind       string // "IfStmt"; empty for a part that is left out, such as the condition of for (;;)
	begin, end loc
	at         loc // of the name that is declared
	name       string
	mangled    string
	refers     string // name of the declaration that an expression refers to
	id         string // of a declaration of a variable or a parameter
	target     string // id of the declaration that an expression refers to
	typ        string // of a variable, an assignment or an update, as written without typedefs' names resolved
	op         string // of an operator: "+="
	constexpr  bool
	hasElse    bool
	kids       []*node
}

// typed are the kinds of nodes of which the type is wanted.
var typed = map[string]bool{"VarDecl": true, "BinaryOperator": true, "CompoundAssignOperator": true, "UnaryOperator": true}

// node reads a node, its brace read already. inner is called at the children, and reads or skips them.
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
			if !typed[n.kind] {
				return s.skip()
			}
			err = s.object(false, func(key string) (err error) {
				if key != "qualType" {
					return s.skip()
				}
				n.typ, err = s.stringValue()
				return err
			})
		case "opcode":
			n.op, err = s.stringValue()
		case "constexpr":
			n.constexpr, err = s.boolValue()
		case "hasElse":
			n.hasElse, err = s.boolValue()
		case "loc":
			n.at, err = s.location()
		case "range":
			err = s.object(false, func(key string) (err error) {
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
		case "referencedDecl":
			err = s.object(false, func(key string) (err error) {
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
		case "inner":
			err = inner()
		default:
			err = s.skip()
		}
		return err
	})
}

// tree reads a node with all that is in it, its brace read already.
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

// location reads a location. Of one in a macro clang prints where it is spelt and where it is expanded.
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
		out.macro, out.spelt = true, spelling.offset
	}
	return out, err
}
