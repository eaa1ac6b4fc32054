package between

import (
	"fmt"
	"strings"

	"heddle/internal/repair/hostedit"
	"heddle/internal/syntax"
)

// host replaces each launch by those of the parts, in order and in the same stream.
func (s *splitter) host() error {
	for i := range s.Launches {
		l := &s.Launches[i]
		if err := s.repeatable(l); err != nil {
			return err
		}
		var lines, buffers, frees []string
		for _, sv := range s.order {
			size, err := s.threads(l)
			if err != nil {
				return err
			}
			name := sv.name
			if i > 0 { // two launches may be in one block
				name = s.p.Fresh(sv.name)
			}
			buffers = append(buffers, name)
			lines = append(lines, sv.Type+" *"+name+";",
				fmt.Sprintf("cudaMalloc(&%s, %s * sizeof(%s));", name, size, sv.Type))
			frees = append(frees, "cudaFree("+name+");")
		}
		inLoop := false
		for _, part := range s.parts {
			if part.inLoop != inLoop {
				if part.inLoop {
					lines = append(lines, s.opening(l)...)
				} else {
					lines = append(lines, "}")
				}
				inLoop = part.inLoop
			}
			line := s.launch(l, part, buffers)
			if inLoop {
				line = s.p.Unit() + line
			}
			lines = append(lines, line)
		}
		if inLoop {
			lines = append(lines, "}")
		}
		s.p.Around(l.Stmt, append(lines, frees...))
	}
	return nil
}

// launch is the launch of a part.
func (s *splitter) launch(l *syntax.HostLaunch, p *part, buffers []string) string {
	text := s.p.Source(syntax.Range{From: l.Name.From, To: l.Whole.To})
	if len(l.Args) > 0 {
		text = s.p.Source(syntax.Range{From: l.Name.From, To: l.Args[0].From})
	}
	name := s.p.Source(l.Name)
	at := strings.LastIndex(strings.SplitN(name, "<", 2)[0], s.Func.Name)
	text = text[:at] + p.name + text[at+len(s.Func.Name):]
	var extra []string
	if p.inLoop {
		extra = append(extra, s.loop.Loop.Var.Name)
	}
	for i, sv := range s.order {
		if contains(p.store, sv) || contains(p.load, sv) {
			extra = append(extra, buffers[i])
		}
	}
	more := strings.Join(extra, ", ")
	if list := ranges(l.Args); len(list) > 0 {
		return text + s.kept(list, p.unused, more) +
			s.p.Source(syntax.Range{From: list[len(list)-1].To, To: l.Whole.To}) + ";"
	}
	if more != "" {
		text = strings.TrimRight(text[:len(text)-1], " ") + more + ")"
	}
	return text + ";"
}

func contains(list []*savedVar, sv *savedVar) bool {
	for _, o := range list {
		if o == sv {
			return true
		}
	}
	return false
}

// opening is the head of the loop in host code, with arguments for parameters.
func (s *splitter) opening(l *syntax.HostLaunch) []string {
	head := s.p.Source(s.loop.Loop.Head)
	for i, p := range s.params {
		head = hostedit.Rename(head, p.Name, s.converted(&l.Args[i], p.Type))
	}
	if s.p.OwnBraces() {
		return []string{"for (" + head + ")", "{"}
	}
	return []string{"for (" + head + ") {"}
}

// converted is an argument with the type of its parameter, so that the host computes the head of
// the loop as the kernel did.
func (s *splitter) converted(a *syntax.HostArg, typ string) string {
	text := factor(s.p.Source(a.Range))
	typ = strings.TrimPrefix(typ, "const ")
	number := strings.Trim(text, "0123456789") == "" && typ == "int"
	if number || a.Var != "" && strings.TrimPrefix(a.Type, "const ") == typ {
		return text
	}
	return "(" + typ + ")" + text
}

// factor puts an expression in parentheses, unless it is a name or a number.
func factor(text string) string {
	if strings.ContainsAny(text, " +-*/%<>=&|?:!,(") {
		return "(" + text + ")"
	}
	return text
}

// threads is the number of threads of a launch.
func (s *splitter) threads(l *syntax.HostLaunch) (string, error) {
	out := "(size_t)"
	for i := range 2 {
		text := s.p.Source(l.Config[i])
		switch {
		case l.Number[i]:
			text = factor(text)
		case dim3Of(text) != "":
			text = dim3Of(text)
		case factor(text) == text:
			text = fmt.Sprintf("%[1]s.x * %[1]s.y * %[1]s.z", text)
		default:
			return "", s.refuse(l.Config[i].From, "the number of threads is not a number or a variable, "+
				"so no buffer can be allocated for what is saved")
		}
		if i > 0 {
			out += " * "
		}
		out += text
	}
	return out, nil
}

// dim3Of is the product of the arguments in dim3(x, y); empty for another expression.
func dim3Of(text string) string {
	inner, ok := strings.CutPrefix(text, "dim3(")
	inner, end := strings.CutSuffix(inner, ")")
	if !ok || !end || strings.ContainsAny(inner, "()") {
		return ""
	}
	var out []string
	for _, x := range strings.Split(inner, ",") {
		out = append(out, factor(strings.TrimSpace(x)))
	}
	return strings.Join(out, " * ")
}

// repeatable refuses a launch whose expressions may not be evaluated several times.
func (s *splitter) repeatable(l *syntax.HostLaunch) error {
	if l.Stmt.To == 0 || len(l.Config) < 2 || len(l.Args) != len(s.params) {
		return s.refuse(l.Whole.From, "the launch is only a part of a statement, or incomplete")
	}
	if l.Host.File != s.Func.File {
		return s.refuse(0, "the launch is in another file")
	}
	for _, r := range append(append([]syntax.Range{}, l.Config...), ranges(l.Args)...) {
		text := s.p.Source(r)
		plain := strings.NewReplacer("==", "", "<=", "", ">=", "", "!=", "").Replace(text)
		if strings.ContainsAny(plain, "=") || strings.Contains(text, "++") ||
			strings.Contains(text, "--") || calls(text) {
			return s.refuse(r.From, "%s may do more than compute a value, and would be evaluated twice",
				text)
		}
		if s.loop != nil && hostedit.Rename(text, s.loop.Loop.Var.Name, "") != text {
			return s.refuse(r.From, "the launch uses the name %s of the loop", s.loop.Loop.Var.Name)
		}
	}
	return nil
}

func ranges(args []syntax.HostArg) []syntax.Range {
	var out []syntax.Range
	for i := range args {
		out = append(out, args[i].Range)
	}
	return out
}

// calls reports whether a text calls a function that is not known to compute a value only.
func calls(text string) bool {
	for i := strings.IndexByte(text, '('); i >= 0; {
		word := text[:i]
		from := strings.LastIndexFunc(word, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) + 1
		switch word[from:] {
		case "", "dim3", "sizeof", "int", "float", "size_t", "min", "max", "ceil":
		default:
			return true
		}
		next := strings.IndexByte(text[i+1:], '(')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}
