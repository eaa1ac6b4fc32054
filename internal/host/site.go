package host

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"io"
	"slices"
)

// Sites finds the places in source files that addresses of a program belong to, by the line tables
// of its executable. It is slow at first use and needs a few bytes for each line of the program.
type Sites struct {
	path   string
	load   uint64
	loaded bool
	rows   []row // ascending by address
	found  map[uint64]Site

	frames  map[uint64][]Frame // that were asked for
	symbols *symbols           // nil: not read
}

// Site is a place in the source of a program.
type Site struct {
	File string // as the compiler wrote it: mostly absolute
	Line int    // from 1; 0: unknown
	Col  int    // in bytes, from 1; 0: unknown
}

// row is the start of a range of addresses that belong to one line; without a file it ends one.
type row struct {
	addr uint64
	Site
}

// NewSites returns the places of a program that said hello.
func NewSites(h Hello) *Sites {
	return &Sites{path: h.Path, load: h.Load, found: make(map[uint64]Site),
		frames: make(map[uint64][]Frame)}
}

// Of returns the place of the call that a return address belongs to: the line of the byte before
// it. It returns the zero Site for code without line information, such as a library's.
func (s *Sites) Of(caller uint64) Site {
	if caller == 0 {
		return Site{}
	}
	if site, ok := s.found[caller]; ok {
		return site
	}
	if !s.loaded {
		s.loaded = true
		s.rows, _ = readLines(s.path) // without line information all places are unknown
	}
	addr := caller - s.load - 1
	i, exact := slices.BinarySearchFunc(s.rows, addr, func(r row, a uint64) int {
		switch {
		case r.addr < a:
			return -1
		case r.addr > a:
			return 1
		}
		return 0
	})
	if !exact {
		i--
	}
	site := Site{}
	if i >= 0 && i < len(s.rows) {
		site = s.rows[i].Site
	}
	s.found[caller] = site
	return site
}

// readLines reads the line tables of an executable.
func readLines(path string) ([]row, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	var rows []row
	for r := d.Reader(); ; r.SkipChildren() {
		unit, err := r.Next()
		if err != nil || unit == nil {
			break
		}
		rows = appendUnit(rows, d, unit)
	}
	// The end of one sequence and the start of the next may have one address; the start counts.
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		case a.Line == 0 && b.Line != 0:
			return -1
		case a.Line != 0 && b.Line == 0:
			return 1
		}
		return 0
	})
	return compact(rows), nil
}

// appendUnit appends the lines of one compilation unit.
func appendUnit(rows []row, d *dwarf.Data, unit *dwarf.Entry) []row {
	lines, err := d.LineReader(unit)
	if err != nil || lines == nil {
		return rows
	}
	var e dwarf.LineEntry
	for {
		if err := lines.Next(&e); errors.Is(err, io.EOF) || err != nil {
			return rows
		}
		next := row{addr: e.Address}
		if !e.EndSequence && e.File != nil && e.Line > 0 {
			next.Site = Site{e.File.Name, e.Line, e.Column}
		} else if !e.EndSequence && len(rows) > 0 {
			next.Site = rows[len(rows)-1].Site // line 0: code that belongs to what is around it
		}
		rows = append(rows, next)
	}
}

// compact keeps the last of several rows of one address.
func compact(rows []row) []row {
	out := rows[:0]
	for i, r := range rows {
		if i+1 < len(rows) && rows[i+1].addr == r.addr {
			continue
		}
		out = append(out, r)
	}
	return out
}
