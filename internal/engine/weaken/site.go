package weaken

import (
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// site is a call in the user's file that synchronizes: one place of the source, with the
// instructions that it became in each kernel. An edit of it changes all of these kernels.
type site struct {
	offset int    // of the name that is called
	name   string // "__syncthreads"
	args   []arg
	end    int // behind the closing parenthesis
	in     map[*kernel][]*ir.Instr
	// called says that it is also in a function that the compiler did not inline everywhere: kernels
	// reach it by calls that are not examined.
	called bool
}

// arg is an argument of a call.
type arg struct {
	text     string
	from, to int
}

// sites are the calls of the user's file that became an instruction of a kernel that
// synchronizes, in the order of the text. A call in a macro or in a header is none: its text is not
// at its place.
func (w *weakener) sites() []*site {
	at := map[int]*site{}
	for _, k := range w.kernels {
		for _, b := range k.fn.Blocks {
			for _, in := range b.Instrs {
				if off, ok := w.place(in); ok && synchronizes(in) {
					s := at[off]
					if s == nil {
						s = callAt(w.user.Content, off)
						at[off] = s
					}
					s.in[k] = append(s.in[k], in)
				}
			}
		}
	}
	for _, f := range w.base.in.IR.Funcs {
		if f.Kernel {
			continue
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if off, ok := w.place(in); ok && at[off] != nil {
					at[off].called = true
				}
			}
		}
	}
	var out []*site
	for _, s := range at {
		if s.name != "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *site) int { return a.offset - b.offset })
	return out
}

// selected reports whether the user selected one of the kernels of a site.
func (s *site) selected() bool {
	for k := range s.in {
		if k.selected {
			return true
		}
	}
	return false
}

// shares reports whether two sites are in one kernel.
func (s *site) shares(o *site) bool {
	for k := range s.in {
		if o.in[k] != nil {
			return true
		}
	}
	return false
}

// synchronizes reports whether an instruction is one that an offer may change.
func synchronizes(in *ir.Instr) bool {
	_, barrier := in.BlockBarrier()
	_, fence := in.Desc.Fence()
	return barrier || fence || isUpdate(in)
}

// place is the place of an instruction in the user's file, where the innermost of its frames in
// that file is.
func (w *weakener) place(in *ir.Instr) (int, bool) {
	for f := in.Loc; f != nil; f = f.Parent {
		if f.Pos.File() == w.user.ID && f.Pos.Col() > 0 {
			return w.user.Offset(f.Pos)
		}
	}
	return 0, false
}

// callAt reads the call of a name at a place. Without one the site has no name.
func callAt(text []byte, off int) *site {
	s := &site{offset: off, in: map[*kernel][]*ir.Instr{}}
	i := off
	for i < len(text) && isWord(text[i]) {
		i++
	}
	name := string(text[off:i])
	if name == "" || off > 0 && isWord(text[off-1]) {
		return s
	}
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	if i == len(text) || text[i] != '(' {
		return s
	}
	if s.args, s.end = arguments(text, i); s.end > 0 {
		s.name = name
	}
	return s
}

// arguments reads the arguments in the parentheses that open at a place. What it does not
// understand, such as comments and quotes, ends it: the end is 0. A comma in template arguments
// separates two.
func arguments(text []byte, open int) ([]arg, int) {
	var out []arg
	depth, from := 0, open+1
	add := func(to int) {
		t := string(text[from:to])
		if trimmed := strings.TrimSpace(t); trimmed != "" {
			lead := len(t) - len(strings.TrimLeft(t, " \t\n"))
			out = append(out, arg{trimmed, from + lead, from + lead + len(trimmed)})
		}
		from = to + 1
	}
	for i := open; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"', c == '\'', c == '#', c == '\\',
			c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*'):
			return nil, 0
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth == 0 {
				add(i)
				return out, i + 1
			}
		case c == ',' && depth == 1:
			add(i)
		}
	}
	return nil, 0
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// statement is the extent of the statement that a call is, with its semicolon. free says that it
// follows another statement or the beginning of a block, so that it may be removed.
func (s *site) statement(text []byte) (end int, free, ok bool) {
	text = withoutComments(text)
	end = s.end
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	i := len(strings.TrimRight(string(text[:s.offset]), " \t\r\n")) - 1
	if i < 0 || end == len(text) || text[end] != ';' {
		return 0, false, false
	}
	line := text[strings.LastIndexByte(string(text[:i]), '\n')+1 : s.offset]
	directive := strings.ContainsAny(string(line), "#\\")
	switch c := text[i]; {
	case strings.IndexByte(";{}", c) >= 0:
		return end + 1, !directive, true
	case c == ')', c == ':', isWord(c):
		return end + 1, false, true
	}
	return 0, false, false
}

// withoutComments is a text with spaces for its comments.
func withoutComments(text []byte) []byte {
	out := slices.Clone(text)
	blank := func(from, to int) {
		for ; from < to; from++ {
			if out[from] != '\n' {
				out[from] = ' '
			}
		}
	}
	for i := 0; i < len(text); i++ {
		rest := string(text[i:min(i+2, len(text))])
		switch {
		case text[i] == '"' || text[i] == '\'' && (i == 0 || !isWord(text[i-1])):
			quote := text[i]
			for i++; i < len(text) && text[i] != quote && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case rest == "//", rest == "/*":
			end, close := "\n", 0
			if rest == "/*" {
				end, close = "*/", 2
			}
			to := len(text)
			if n := strings.Index(string(text[i+2:]), end); n >= 0 {
				to = i + 2 + n + close
			}
			blank(i, to)
			i = to - 1
		}
	}
	return out
}

// pos is a place of the file as a position.
func (w *weakener) pos(offset int) source.Pos { return w.user.PosAt(offset) }
