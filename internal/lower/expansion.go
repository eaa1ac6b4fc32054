package lower

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// The recovery from errors asks the preprocessor what code is device code: macros such as HD expand
// to attributes.

// expansion is the preprocessed text of a compilation.
type expansion struct {
	lines []expandedLine
	at    map[string]map[int]string // text by absolute path and line
}

// expandedLine is one line of the preprocessed text.
type expandedLine struct {
	path string // absolute
	line int    // from 1, in the original text
	text string
}

// Device attributes in source text, line markers, and device attributes in preprocessed text.
var (
	deviceAttrRE = lazyregexp.New(
		`__(global|device|constant|shared|managed)__|` +
			`__attribute__\s*\(\(\s*(global|device|constant|shared)\b`)
	lineMarkerRE   = lazyregexp.New(`^# (\d+) "((?:[^"\\]|\\.)*)"`)
	expandedAttrRE = lazyregexp.New(`__attribute__\(\((global|device|constant|shared)\)\)`)
	constantFnRE   = lazyregexp.New(`\b(constexpr|consteval)\b`)
)

// expand preprocesses the file, at the first call. A failure leaves the expansion empty.
func (r *recovery) expand() *expansion {
	if r.expanded != nil {
		return r.expanded
	}
	x := &expansion{at: make(map[string]map[int]string)}
	r.expanded = x
	args, err := r.args()
	if err != nil {
		return x
	}
	// clang prints preprocessed text even if it fails.
	out, _ := command(r.ctx, r.b.tc.Clang,
		append([]string{"-E"}, r.b.clangArgs(args...)...)...).Output()
	path, n := "", 0
	for _, line := range strings.Split(string(out), "\n") {
		if m := lineMarkerRE.FindStringSubmatch(line); m != nil {
			n, _ = strconv.Atoi(m[1])
			path = r.path(strings.ReplaceAll(m[2], `\\`, `\`))
			continue
		}
		if x.at[path] == nil {
			x.at[path] = make(map[int]string)
		}
		x.at[path][n] += line + " "
		x.lines = append(x.lines, expandedLine{path, n, line})
		n++
	}
	return x
}

// path returns the absolute path of a file; the name itself if there is none.
func (r *recovery) path(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return abs
}

// lineRange returns the first and the last line of a range of a text.
func lineRange(src []byte, start, end int) (first, last int) {
	first = 1 + bytes.Count(src[:start], []byte{'\n'})
	return first, first + bytes.Count(src[start:end], []byte{'\n'})
}

// expandedHead returns the preprocessed lines of the part of a declaration before its body, up to
// the brace that opens the body.
func (r *recovery) expandedHead(file string, src []byte, d declaration) string {
	first, last := lineRange(src, d.start, d.headEnd())
	lines := r.expand().at[r.path(file)]
	var b strings.Builder
	for n := first; n <= last; n++ {
		b.WriteString(lines[n])
		b.WriteByte('\n')
	}
	head, _, _ := strings.Cut(b.String(), "{")
	return head
}

// textWithout returns the preprocessed text without the lines of a declaration.
func (r *recovery) textWithout(path string, src []byte, d declaration) []byte {
	first, last := lineRange(src, d.start, d.end)
	var out []byte
	for _, l := range r.expand().lines {
		if l.path != path || l.line < first || l.line > last {
			out = append(append(out, l.text...), '\n')
		}
	}
	return out
}

// isDevice reports whether a declaration has a device attribute, in its text or after
// preprocessing, or is a constexpr function, which device code may call. All of OpenCL C is device
// code.
func (r *recovery) isDevice(file string, src []byte, d declaration) bool {
	if r.b.cl != nil || deviceAttrRE.Match(src[d.start:d.headEnd()]) {
		return true
	}
	first, last := lineRange(src, d.start, d.headEnd())
	lines := r.expand().at[r.path(file)]
	for n := first; n <= last; n++ {
		if expandedAttrRE.MatchString(lines[n]) {
			return true
		}
	}
	return d.bodyStart >= 0 && constantFnRE.MatchString(r.expandedHead(file, src, d))
}

// hostOnlyRE matches the start of a declaration whose removal changes no other: a static assertion,
// or a using directive, which declares nothing if its namespace does not exist.
var hostOnlyRE = lazyregexp.New(`^(static_assert|_Static_assert|using\s+namespace)\b`)

// The declarations that device code may use without an attribute: types and aliases, and constants.
var (
	typeStartRE = lazyregexp.New(`^(typedef|using|class|struct|union|enum|namespace)\b`)
	typeRE      = lazyregexp.New(
		`^(typedef|using|class|struct|union|enum|namespace)\b|\b(const|constexpr|constinit)\b`)
)

// scopedEnumRE matches an enumeration whose constants need its name.
var scopedEnumRE = lazyregexp.New(`^enum\s+(class|struct)\b`)

// removable reports whether a declaration without device attributes may be removed as a whole.
// Functions and variables of the host may: device code cannot use them. A type, an alias or a
// constant must be the only declaration of its name, so that each use of it becomes an error. If it
// is a member of a class, device code must not use that class, which usesDamaged checks after
// compilation; so must the template of a specialization.
func (r *recovery) removable(file string, e *edited, d declaration) bool {
	text := strings.TrimSpace(string(e.orig[d.start:d.end]))
	head := stripTemplate(strings.TrimSpace(string(e.orig[d.start:d.headEnd()])))
	classes := enclosingClasses(e.orig, d.start)
	switch {
	case hostOnlyRE.MatchString(text):
		return true
	case len(classes) > 0:
		r.damaged = append(r.damaged, classes...)
		return !slices.Contains(classes, "")
	case specialRE.MatchString(text):
		name := declaredName(head)
		r.damaged = append(r.damaged, name)
		return name != ""
	case !typeRE.MatchString(head), !typeStartRE.MatchString(head) && lastParameters(head) > 0:
		return true
	case strings.HasPrefix(head, "enum") && !scopedEnumRE.MatchString(head):
		return false // its constants have names of their own
	}
	return r.unique(file, e, d, declaredName(head))
}

// usesDamaged reports whether device code may use a class from which a member was removed: an
// instance of a template names it, or a device declaration mentions it or a type, alias or constant
// that mentions it, and so on.
func (r *recovery) usesDamaged(fns []place) bool {
	if len(r.damaged) == 0 {
		return false
	}
	names := map[string]bool{}
	for _, n := range r.damaged {
		names[n] = true
		for _, f := range fns {
			if strings.Contains(f.fn, strconv.Itoa(len(n))+n) {
				return true
			}
		}
	}
	parts := r.expandedDecls()
	for changed := true; changed; {
		changed = false
		for _, p := range parts {
			if !p.mentions(names) {
				continue
			}
			if p.device {
				return true
			}
			for _, n := range p.names {
				if n != "" && !names[n] {
					names[n], changed = true, true
				}
			}
		}
	}
	return false
}

// expandedDecl is a declaration of the preprocessed text that device code may use.
type expandedDecl struct {
	names  []string // that it declares, or the classes that contain it
	words  []string // identifiers in it
	device bool     // it has a device attribute
}

// mentions reports whether a declaration contains one of the names.
func (d *expandedDecl) mentions(names map[string]bool) bool {
	return slices.ContainsFunc(d.words, func(w string) bool { return names[w] })
}

// expandedDecls returns the declarations of the user's files that device code may use: device
// declarations, types, aliases and constants, and whatever is a member of a class.
func (r *recovery) expandedDecls() []expandedDecl {
	var text []byte
	for _, l := range r.expand().lines {
		if r.editable(l.path) {
			text = append(append(text, l.text...), '\n')
		}
	}
	var out []expandedDecl
	walkDecls(text, func(d declaration, classes []string) {
		body := text[d.start:d.end]
		head := stripTemplate(strings.TrimSpace(string(text[d.start:d.headEnd()])))
		device := expandedAttrRE.Match(body) || constantFnRE.MatchString(head)
		if !device && len(classes) == 0 && !typeRE.MatchString(head) {
			return
		}
		names := slices.Clone(classes)
		if len(names) == 0 {
			names = []string{declaredName(head)}
		}
		out = append(out, expandedDecl{names, identifierRE.FindAllString(string(body), -1), device})
	})
	return out
}
