package between

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/repair/hostedit"
	"heddle/internal/syntax"
)

// write replaces the definition of the kernel by those of its parts.
func (s *splitter) write() {
	head, name := s.Func.Head()
	var texts []string
	for _, part := range s.parts {
		texts = append(texts, s.definition(part, head, name))
	}
	body, _ := s.Func.File.Offset(s.Func.Span.End)
	br := s.p.LineBreak()
	s.p.Replace(syntax.Range{From: head.From, To: body}, strings.Join(texts, br+br))
}

// definition is the text of a part.
func (s *splitter) definition(p *part, head, name syntax.Range) string {
	at := s.p.Source(head)
	base := s.p.Indent(s.steps[0].From)
	var lines []string
	for i := range p.keep {
		lines = append(lines, s.lines(&p.keep[i], base, false)...)
	}
	declared := func(sv *savedVar) bool {
		return sv.param || slices.ContainsFunc(p.keep, func(st syntax.Step) bool {
			return slices.ContainsFunc(st.Declares, func(v syntax.Local) bool { return v.ID == sv.ID })
		})
	}
	for _, sv := range p.load {
		typ := sv.Type + " "
		if declared(sv) {
			typ = ""
		}
		lines = append(lines, fmt.Sprintf("%s%s%s = %s[%s];", base, typ, sv.Name, sv.name,
			s.index(p.keep)))
	}
	for i := range p.steps {
		lines = append(lines, s.lines(&p.steps[i], base, i > 0)...)
	}
	for _, sv := range p.store {
		lines = append(lines, fmt.Sprintf("%s%s[%s] = %s;", base, sv.name,
			s.index(slices.Concat(p.keep, p.steps)), sv.Name))
	}
	br := s.p.LineBreak()
	body := strings.Join(lines, br)
	p.unused = s.unused(body)
	return at[:name.From-head.From] + p.name + s.signature(p, head, name) + "{" + br + body + br +
		s.p.Indent(head.From) + "}"
}

// unused tells of each parameter of the kernel whether a text does not name it.
func (s *splitter) unused(body string) []bool {
	out := make([]bool, len(s.params))
	for i, p := range s.params {
		out[i] = hostedit.Rename(body, p.Name, "") == body
	}
	return out
}

// signature is the text of a part between its name and its body.
func (s *splitter) signature(p *part, head, name syntax.Range) string {
	extra := s.parameters(p)
	if len(s.params) == 0 {
		after := s.p.Source(syntax.Range{From: name.To, To: head.To})
		open := strings.IndexByte(after, '(') + 1
		return after[:open] + extra + after[open:]
	}
	var list []syntax.Range
	for _, q := range s.params {
		list = append(list, q.Range)
	}
	return s.p.Source(syntax.Range{From: name.To, To: list[0].From}) + s.kept(list, p.unused, extra) +
		s.p.Source(syntax.Range{From: list[len(list)-1].To, To: head.To})
}

// kept is the text of a list without the elements that are not used, and with more at its end. Each
// element keeps what separates it from the one before.
func (s *splitter) kept(list []syntax.Range, unused []bool, extra string) string {
	var out strings.Builder
	for i, r := range list {
		if unused[i] {
			continue
		}
		if out.Len() > 0 {
			out.WriteString(s.p.Source(syntax.Range{From: list[i-1].To, To: r.From}))
		}
		out.WriteString(s.p.Source(r))
	}
	if extra != "" && out.Len() > 0 {
		out.WriteString(", ")
	}
	return out.String() + extra
}

// parameters are those that a part has besides the kernel's.
func (s *splitter) parameters(p *part) string {
	var out []string
	if p.inLoop {
		out = append(out, s.loop.Loop.Var.Type+" "+s.loop.Loop.Var.Name)
	}
	for _, sv := range s.order {
		switch {
		case slices.Contains(p.store, sv):
			out = append(out, sv.Type+" *"+sv.name)
		case slices.Contains(p.load, sv):
			out = append(out, "const "+sv.Type+" *"+sv.name)
		}
	}
	return strings.Join(out, ", ")
}

// lines is the text of a statement, with the comments before it, at an indentation.
func (s *splitter) lines(st *syntax.Step, base string, blank bool) []string {
	from := st.From
	if s.p.First(from) {
		from = s.before(st)
	}
	full := syntax.Range{From: from, To: s.p.CommentEnd(st.To)}
	text := strings.ReplaceAll(s.p.Source(full), "\r", "")
	was := s.p.Indent(st.From)
	var out []string
	for i, line := range strings.Split(text, "\n") {
		rest, ok := strings.CutPrefix(line, was)
		switch {
		case strings.TrimSpace(line) == "":
			if len(out) > 0 || blank && i > 0 {
				out = append(out, "")
			}
			continue
		case ok:
			line = base + rest
		case i == 0:
			line = base + strings.TrimSpace(line)
		}
		out = append(out, line)
	}
	return out
}

// before is the end of the line on which what precedes a statement ends.
func (s *splitter) before(st *syntax.Step) int {
	start, _ := s.Func.File.Offset(s.Func.Span.Start)
	at := start + 1
	var walk func(steps []syntax.Step)
	walk = func(steps []syntax.Step) {
		for i := range steps {
			switch o := &steps[i]; {
			case o.To <= st.From:
				at = max(at, o.To)
			case o.From < st.From && len(o.Body) > 0:
				if open := s.p.OpenBrace(o.Loop.Head.To); open > 0 {
					at = max(at, open)
				}
				walk(o.Body)
			}
		}
	}
	walk(s.steps)
	return min(s.p.LineEnd(at), st.From)
}

// index is the number of a thread in the grid. One of the statements before may have a variable of
// it.
func (s *splitter) index(before []syntax.Step) string {
	plain := true
	for i := range s.Launches {
		plain = plain && s.Launches[i].Number == [2]bool{true, true}
	}
	if !plain {
		return "((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * (blockDim.x * " +
			"blockDim.y * blockDim.z) + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
	}
	for _, st := range before {
		text := strings.ReplaceAll(s.p.Source(st.Range), " ", "")
		for _, v := range st.Declares {
			if len(st.Declares) == 1 && !s.changed(v.ID) {
				for _, form := range []string{"blockIdx.x*blockDim.x+threadIdx.x",
					"threadIdx.x+blockIdx.x*blockDim.x", "blockDim.x*blockIdx.x+threadIdx.x"} {
					if strings.HasSuffix(text, v.Name+"="+form+";") {
						return v.Name
					}
				}
			}
		}
	}
	return "blockIdx.x * blockDim.x + threadIdx.x"
}
