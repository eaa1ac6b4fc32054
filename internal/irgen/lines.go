package irgen

import (
	"bytes"
	"path"
	"strings"

	"heddle/internal/ptx"
	"heddle/internal/source"
)

// maxInline bounds the depth of an inline stack. Positions that name themselves as their call site
// would grow one without end.
const maxInline = 256

// lineTable turns .loc directives into frames (PTX ISA 11.5.3, 11.5.4). Equal frames are one
// object, so that comparing pointers compares inline stacks, and a body with many instructions of
// one line costs one frame.
type lineTable struct {
	files  map[int64]source.FileID // by the index of .file
	strs   []byte                  // contents of .debug_str
	labels map[string]int          // offsets in strs
	frames map[frameKey]*source.Frame
	names  map[int64]string // demangled, by offset in strs
	// files of libraries
	library map[source.FileID]bool
	// files of libraries whose code is only ever inlined (pythonLibrary)
	inlined map[source.FileID]bool
	python  map[source.FileID]bool // files of Python
	// the files of .file directives, by the last element of their paths
	listed map[string][]listedFile
	sites  map[string]recentFrame // of the function, by ptx.Loc.CallSites

	fn     string // the function whose body is read, demangled
	recent map[source.Pos]recentFrame
	own    *source.Frame // the first place of that function, without what is inlined there
}

// listedFile is a file of a .file directive.
type listedFile struct {
	name string
	id   source.FileID
}

// frameKey is the content of a frame. Parents are interned first, so comparing the pointer is
// enough.
type frameKey struct {
	fn     string
	pos    source.Pos
	parent *source.Frame
}

// recentFrame is a frame with the depth of its inline stack, which maxInline bounds.
type recentFrame struct {
	frame *source.Frame
	depth int
}

// newLineTable reads the .file directives and the section of function names. Debug information may
// be at the end of the text, so this is a pass of its own before the bodies. A file that has not
// been loaded is known by name; positions are dropped only when the set is full.
func newLineTable(set *source.Set, file *ptx.File, libraries []string) *lineTable {
	t := &lineTable{
		files:  make(map[int64]source.FileID),
		labels: make(map[string]int),
		frames: make(map[frameKey]*source.Frame),
		names:  make(map[int64]string),

		library: make(map[source.FileID]bool),
		inlined: make(map[source.FileID]bool),
		python:  make(map[source.FileID]bool),
		listed:  make(map[string][]listedFile),
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ptx.FileDir:
			if f := set.Named(d.Name); f != nil {
				t.files[d.Index] = f.ID
				t.inlined[f.ID] = pythonLibrary(d.Name) != ""
				t.library[f.ID] = inLibrary(libraries, d.Name)
				t.python[f.ID] = source.PythonName(d.Name)
				base := path.Base(d.Name)
				t.listed[base] = append(t.listed[base], listedFile{d.Name, f.ID})
			}
		case *ptx.Section:
			if strings.TrimPrefix(d.Name, ".") == "debug_str" {
				t.strings(d)
			}
		}
	}
	return t
}

// strings reads the bytes and the labels of .debug_str, in which .loc finds the names of inlined
// functions. Elements are little endian; anything but an integer counts as zero, to keep the
// offsets right.
func (t *lineTable) strings(s *ptx.Section) {
	for _, item := range s.Data {
		if item.Label != "" {
			t.labels[item.Label] = len(t.strs)
			continue
		}
		width := map[string]int{"b8": 1, "b16": 2, "b32": 4, "b64": 8}[item.Type]
		for _, a := range item.Args.All() {
			var v uint64
			if a.Kind() == ptx.Int {
				v, _ = a.Int()
			}
			for i := range width {
				t.strs = append(t.strs, byte(v>>(8*i)))
			}
		}
	}
}

// enter starts a function's body. Call sites never lie in another function's body, so recent
// positions are forgotten.
func (t *lineTable) enter(demangledName string) {
	t.fn = demangledName
	t.recent = make(map[source.Pos]recentFrame)
	t.own, t.sites = nil, nil
}

// loc returns the frame of a .loc, or nil if it names no place: an unknown file, or line 0, which
// stands for code that belongs to no line. Inlined code without a line counts for its call site.
//
// The call site of inlined code is the position of an earlier .loc (11.5.4), whose own call site
// continues the stack. The most recent one of that position is meant. LLVM says it in a comment
// instead, unless it is asked for the directive.
func (t *lineTable) loc(l ptx.Loc) *source.Frame {
	f := t.at(l)
	if t.own == nil && t.mayOwn(f) {
		t.own, t.sites = outermost(f), make(map[string]recentFrame)
	}
	return f
}

// mayOwn reports whether a frame can tell where the function is defined: it is not nil, and not
// inlined from a library at an unknown place.
func (t *lineTable) mayOwn(f *source.Frame) bool {
	return f != nil && !t.inlined[outermost(f).Pos.File()]
}

// at is loc without the bookkeeping for the function.
func (t *lineTable) at(l ptx.Loc) *source.Frame {
	pos := t.pos(l.File, l.Line, l.Col)
	if !l.Inlined {
		parent := t.commented(l.CallSites)
		switch {
		case !pos.IsValid():
			return parent.frame
		case parent.frame != nil:
			return t.frame("", pos, parent)
		case t.inlinedElsewhere(pos):
			return t.frame("", pos, recentFrame{t.own, 1})
		}
		return t.frame(t.fn, pos, recentFrame{})
	}
	site := t.pos(l.InFile, l.InLine, l.InCol)
	parent, ok := t.recent[site]
	if !ok && site.IsValid() {
		parent = recentFrame{t.intern(frameKey{t.fn, site, nil}), 1}
	}
	if !pos.IsValid() {
		return parent.frame
	}
	return t.frame(t.funcName(&l), pos, parent)
}

// pos returns a position of the source, or 0 if the file is unknown or the line is 0. The bounds
// are those that source.Pos can represent; hostile numbers must not wrap around into valid ones.
func (t *lineTable) pos(file, line, col int64) source.Pos {
	id := t.files[file]
	if id == 0 || line <= 0 || line > 1<<27 || col < 0 || col > 1<<19 {
		return 0
	}
	return source.MakePos(id, int(line), t.column(id, int(col)))
}

// column returns a column that counts from 1. Those of Python count from 0, as in its syntax trees:
// the compilers pass them on as they are. Column 0 stays, as it also means that only the line is
// known.
func (t *lineTable) column(id source.FileID, col int) int {
	if col > 0 && t.python[id] {
		return col + 1
	}
	return col
}

// frame returns the frame of a place in fn that was inlined at parent, and makes it the most recent
// one of its position. A stack of maxInline frames is cut, not extended.
func (t *lineTable) frame(fn string, pos source.Pos, parent recentFrame) *source.Frame {
	if parent.depth >= maxInline {
		parent = recentFrame{}
	}
	f := t.intern(frameKey{fn, pos, parent.frame})
	t.recent[pos] = recentFrame{f, parent.depth + 1}
	return f
}

// intern returns the one frame with that content.
func (t *lineTable) intern(k frameKey) *source.Frame {
	f := t.frames[k]
	if f == nil {
		f = &source.Frame{Func: k.fn, Pos: k.pos, Parent: k.parent, Library: t.library[k.pos.File()]}
		t.frames[k] = f
	}
	return f
}

// funcName returns the name of the inlined function of a .loc, which the directive gives as a label
// or section plus an offset in .debug_str; "" if the section does not have it. Names end with a
// zero byte.
func (t *lineTable) funcName(l *ptx.Loc) string {
	start, ok := t.labels[l.FuncName]
	if !ok && strings.TrimPrefix(l.FuncName, ".") != "debug_str" {
		return ""
	}
	off := int64(start) + l.FuncOff
	if off < 0 || off >= int64(len(t.strs)) {
		return ""
	}
	if s, ok := t.names[off]; ok {
		return s
	}
	name := t.strs[off:]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	s := demangled(string(name))
	t.names[off] = s
	return s
}
