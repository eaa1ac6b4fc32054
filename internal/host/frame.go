package host

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"slices"

	"github.com/ianlancetaylor/demangle"

	"heddle/internal/source"
)

// Frame is a call of a function on a stack.
type Frame struct {
	Func string // demangled; "?" if it is not known
	Site        // in the function
}

// symbols names the functions of a program.
type symbols struct {
	dwarf *dwarf.Data
	funcs []elf.Symbol                // ascending
	units map[dwarf.Offset][]function // of each unit that was asked for
}

// function is a range of addresses of a function, and its entry among the debug information.
type function struct {
	low, high uint64
	entry     dwarf.Offset
}

// Frames returns the functions to which a return address belongs, innermost first: more than one if
// the compiler has inlined calls. It returns nothing for code without line information. The result
// is kept, since the same calls make one launch after another.
func (s *Sites) Frames(caller uint64) []Frame {
	if out, ok := s.frames[caller]; ok {
		return out
	}
	out := s.framesOf(caller)
	s.frames[caller] = out
	return out
}

// framesOf reads the frames of a return address.
func (s *Sites) framesOf(caller uint64) []Frame {
	site := s.Of(caller)
	if site.Line == 0 {
		return nil
	}
	if s.symbols == nil {
		s.symbols = readSymbols(s.path)
	}
	pc := caller - s.load - 1
	var out []Frame
	for _, in := range s.symbols.inlined(pc) {
		out = append(out, Frame{Func: in.name, Site: site})
		site = in.call
	}
	return append(out, Frame{Func: s.symbols.name(pc), Site: site})
}

// readSymbols reads what a program knows about its functions, which may be nothing.
func readSymbols(path string) *symbols {
	s := &symbols{units: map[dwarf.Offset][]function{}}
	f, err := elf.Open(path)
	if err != nil {
		return s
	}
	defer f.Close()
	s.dwarf, _ = f.DWARF()
	all, _ := f.Symbols()
	for _, sym := range all {
		if elf.ST_TYPE(sym.Info) == elf.STT_FUNC && sym.Section != elf.SHN_UNDEF {
			s.funcs = append(s.funcs, sym)
		}
	}
	slices.SortStableFunc(s.funcs, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return s
}

// name returns the name of the function that has an address.
func (s *symbols) name(pc uint64) string {
	i, found := slices.BinarySearchFunc(s.funcs, pc, func(f elf.Symbol, a uint64) int {
		return cmp.Compare(f.Value, a)
	})
	if !found {
		i--
	}
	if i < 0 || pc-s.funcs[i].Value >= s.funcs[i].Size {
		return "?"
	}
	return source.Unversioned(demangle.Filter(s.funcs[i].Name))
}

// inlinedCall is a call that the compiler has replaced by the body of the function.
type inlinedCall struct {
	name string
	call Site
}

// inlined returns the calls in whose bodies an address is, innermost first.
func (s *symbols) inlined(pc uint64) []inlinedCall {
	if s.dwarf == nil {
		return nil
	}
	r := s.dwarf.Reader()
	unit, err := r.SeekPC(pc)
	if err != nil {
		return nil
	}
	var files []*dwarf.LineFile
	if lines, err := s.dwarf.LineReader(unit); err == nil && lines != nil {
		files = lines.Files()
	}
	fn, ok := s.function(unit, pc)
	if !ok {
		return nil
	}
	r.Seek(fn)
	if _, err := r.Next(); err != nil { // the function itself
		return nil
	}
	var out []inlinedCall
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == 0 { // the end of a list of children
			depth--
			continue
		}
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			if !s.contains(e, pc) {
				r.SkipChildren()
				continue
			}
			if e.Tag == dwarf.TagInlinedSubroutine {
				in := inlinedCall{name: s.origin(e)}
				file, _ := e.Val(dwarf.AttrCallFile).(int64)
				line, _ := e.Val(dwarf.AttrCallLine).(int64)
				if file >= 0 && int(file) < len(files) && files[file] != nil {
					in.call = Site{File: files[file].Name, Line: int(line)}
				}
				out = append(out, in)
			}
		}
		if e.Children {
			depth++
		}
	}
	slices.Reverse(out)
	return out
}

// function returns the entry of the function of a unit that covers an address and has children.
func (s *symbols) function(unit *dwarf.Entry, pc uint64) (dwarf.Offset, bool) {
	all, ok := s.units[unit.Offset]
	if !ok {
		all = s.functions(unit)
		s.units[unit.Offset] = all
	}
	i := slices.IndexFunc(all, func(f function) bool { return f.low <= pc && pc < f.high })
	if i < 0 {
		return 0, false
	}
	return all[i].entry, true
}

// functions returns the functions of a unit that have children. A program of templates has some ten
// thousand, so they are read once and not for each address.
func (s *symbols) functions(unit *dwarf.Entry) []function {
	r := s.dwarf.Reader()
	r.Seek(unit.Offset)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return nil
	}
	var out []function
	for depth := 1; depth > 0; {
		e, err := r.Next()
		switch {
		case err != nil || e == nil:
			return out
		case e.Tag == 0:
			depth--
		case e.Tag == dwarf.TagSubprogram:
			ranges, err := s.dwarf.Ranges(e)
			for _, at := range ranges {
				if err == nil && e.Children {
					out = append(out, function{at[0], at[1], e.Offset})
				}
			}
			r.SkipChildren()
		case e.Children:
			depth++
		}
	}
	return out
}

// contains reports whether an entry covers an address.
func (s *symbols) contains(e *dwarf.Entry, pc uint64) bool {
	ranges, err := s.dwarf.Ranges(e)
	return err == nil && slices.ContainsFunc(ranges, func(r [2]uint64) bool {
		return r[0] <= pc && pc < r[1]
	})
}

// origin returns the name of the function that an inlined call has called. Its entry may refer to
// that of a declaration, which has the name.
func (s *symbols) origin(e *dwarf.Entry) string {
	for _, to := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		at, ok := e.Val(to).(dwarf.Offset)
		if !ok {
			break
		}
		r := s.dwarf.Reader()
		r.Seek(at)
		f, err := r.Next()
		if err != nil || f == nil {
			break
		}
		if name, ok := f.Val(dwarf.AttrLinkageName).(string); ok {
			return source.Unversioned(demangle.Filter(name))
		}
		if name, ok := f.Val(dwarf.AttrName).(string); ok {
			return name
		}
		e = f
	}
	return "?"
}
