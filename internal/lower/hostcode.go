package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// Errors in host code must not prevent the analysis of kernels. clang parses host code too, so
// whatever does not compile is removed and clang runs again, until no errors are left:
//
//   - a missing header is replaced by an empty one;
//   - for an error in a host function, the statement is removed (a kernel launch leaves
//     `(void)&kernel<...>`, so that templates are still instantiated); if that does not help, the
//     body of the function;
//   - for an error elsewhere, the declaration is removed, unless device code could then mean
//     something else (removable);
//   - for an error in device code, devicecode.go removes it with the kernels that need it.
//
// Removed text becomes spaces, so that all lines and columns stay the same. clang reads the edited
// text through a virtual file overlay, under the name of the file. If an error cannot be removed
// in this way, the recovery ends: the user sees clang's diagnostics for the original file.

// maxRounds bounds the runs of clang for one file: each run finds the next missing header, and
// errors that earlier errors had hidden.
const maxRounds = 24

// recovery is the state over all rounds.
type recovery struct {
	b        *build
	ctx      context.Context
	edits    map[string]*edited // by absolute path
	stubs    []string           // headers replaced with empty ones
	expanded *expansion         // the preprocessed text; nil: not computed yet
	refusals []*refusal         // device code that was left out
	damaged  []string           // classes from which a member was removed
	warnings []string           // one for each header and host declaration that was left out
}

// newRecovery returns the state before the first round. clang reads marked and edited files through
// a single overlay, which is that of the recovery from now on.
func newRecovery(ctx context.Context, b *build) *recovery {
	r := &recovery{b: b, ctx: ctx, edits: make(map[string]*edited)}
	for abs, f := range b.marked {
		r.edits[abs] = &edited{orig: f.text, text: append([]byte(nil), f.text...), shown: f.name,
			marks: f, decls: make(map[int]*editedDecl)}
	}
	b.overlay = nil
	return r
}

// edited is a file with parts replaced by spaces.
type edited struct {
	orig, text []byte              // of equal length
	shown      string              // name in diagnostics
	marks      *markedFile         // whose text orig is; nil: orig is what the user wrote
	decls      map[int]*editedDecl // by start offset
	round      [][2]int            // ranges removed in this round
	unsized    []string            // external arrays that have lost their length in this round
}

// place returns file:line:col of a place of clang's text as the user sees it.
func (e *edited) place(line, col int) string {
	if e.marks != nil {
		col = e.marks.column(line, col)
	}
	return fmt.Sprintf("%s:%d:%d", e.shown, line, col)
}

// nextRound forgets what the last round has removed.
func (r *recovery) nextRound() {
	for _, e := range r.edits {
		e.round, e.unsized = e.round[:0], e.unsized[:0]
	}
}

// editedDecl is a declaration from which something was removed.
type editedDecl struct {
	declaration
	level int // what to remove next: 0 statements, 1 the body, 2 the declaration, 3 nothing is left
}

// diagRE matches clang's "file:line:col: error: text". The name of the file may contain colons.
var diagRE = lazyregexp.New(`(?m)^(.+?):(\d+):(\d+): (fatal error|error|note): (.*)$`)

// missingRE matches the text of clang's error for a missing header.
var missingRE = lazyregexp.New(`^'([^']+)' file not found`)

// errRewritten says that a round uncovered an error in device code, and that a file was rewritten
// (build.rewrite): the recovery has to begin again with the new text.
var errRewritten = errors.New("a file was rewritten")

// compile edits the file and runs clang until it compiles. first is clang's failure on the original
// file. It returns the output with a warning for everything that was left out, or errRewritten.
func (r *recovery) compile(source func(string) []byte,
	first *clangFailure) (*output, []string, error) {
	b, ctx := r.b, r.ctx
	compileError := &CompileError{File: b.name, Output: first.output}
	failure := first
	b.edited = true
	for round := range maxRounds {
		if round > 0 {
			if again, err := b.rewrite(failure.output); err != nil {
				return nil, nil, err
			} else if again {
				return nil, nil, errRewritten
			}
		}
		if !r.step(failure.output) {
			return nil, nil, compileError
		}
		args, err := r.args()
		if err != nil {
			return nil, nil, err
		}
		b.refused = r.refusals
		out, err := b.run(ctx, source, args...)
		switch {
		case err == nil && (r.editedDevice(out.functions) || r.usesDamaged(out.functions)):
			return nil, nil, compileError
		case err == nil:
			r.explain(out.omitted)
			return out, append(r.warnings, r.functionWarnings()...), nil
		case errors.Is(err, errNoKernelLeft):
			return nil, nil, compileError
		case !errors.As(err, &failure):
			return nil, nil, err
		}
	}
	return nil, nil, compileError
}

// editedDevice reports whether a function that was compiled for the device is in an edited
// declaration: it was device code after all, and the rest of it has another meaning. Then the file
// is rejected with clang's original diagnostics. This makes the heuristics of decls.go safe: they
// cannot change the meaning of device code unnoticed.
func (r *recovery) editedDevice(fns []place) bool {
	for _, f := range fns {
		e := r.edits[f.path]
		if e == nil {
			continue
		}
		off := offsetOf(e.orig, f.line, 1)
		for _, d := range e.decls {
			if off < d.headEnd() && offsetOf(e.orig, f.line+1, 1) > d.start {
				return true
			}
		}
	}
	return false
}

// step removes the host code that clang's diagnostics refer to. It returns false if it may not
// remove any of it.
func (r *recovery) step(output string) bool {
	r.nextRound()
	if len(r.stubs) > 0 && r.takeMacros(output) {
		return true // errors behind a macro may be its own
	}
	changed := false
	pending := "" // an error in a file that cannot be edited; its notes may lead to one that can
	for _, m := range diagRE.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		msg := m[5]
		if m[4] == "note" {
			if pending != "" && r.editable(m[1]) {
				if !r.blank(m[1], line, col, pending) {
					return false
				}
				changed, pending = true, ""
			}
			continue
		}
		if pending != "" {
			return false
		}
		switch h := missingRE.FindStringSubmatch(msg); {
		case h != nil:
			if !r.stub(h[1], fmt.Sprintf("%s:%d:%d", m[1], line, col)) {
				return false
			}
		case strings.HasPrefix(msg, "too many errors"):
			continue
		case !r.editable(m[1]):
			pending = msg
			continue
		case !r.blank(m[1], line, col, msg):
			return false
		}
		changed = true
	}
	return changed && pending == ""
}

// stub creates a header for an #include at a place: an empty one, or for PyTorch's headers one with
// what heddle has of them. It refuses names outside of the stub directory, and headers that a copy
// of CCCL lacks or needs: it is of another version than the program needs, or not complete. A
// header of OpenCL C has device code and macros.
func (r *recovery) stub(name, where string) bool {
	if !filepath.IsLocal(name) || r.b.cl != nil ||
		r.b.libs.copy != nil && (isLibraryHeader(name) || !r.ownInclude(where)) {
		return false
	}
	for _, s := range r.stubs {
		if s == name {
			return false
		}
	}
	path := filepath.Join(r.stubDir(), name)
	var content []byte
	if torchRE.MatchString(name) {
		content = []byte("#include <torch/types.h>\n")
	}
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.WriteFile(path, content, 0o644) != nil {
		return false
	}
	r.stubs = append(r.stubs, name)
	text := fmt.Sprintf("%s: header %s not found; heddle ignores host code that needs it", where, name)
	if isLibraryHeader(name) {
		text += "; " + ccclPackages
	}
	if strings.HasPrefix(name, "sycl/") || name == "CL/sycl.hpp" {
		text += "; heddle does not read SYCL"
	}
	r.warnings = append(r.warnings, text)
	return true
}

// torchRE matches the names of PyTorch's headers.
var torchRE = lazyregexp.New(`^(ATen|c10|THC|torch)/`)

// ownInclude reports whether the place of an #include is in a file of the user.
func (r *recovery) ownInclude(where string) bool {
	return r.editable(placeRE.ReplaceAllString(where, ""))
}

// placeRE matches the line and the column at the end of a place.
var placeRE = lazyregexp.New(`:\d+:\d+$`)

// stubDir returns the directory of the empty headers.
func (r *recovery) stubDir() string { return filepath.Join(r.b.tmp, "stubs") }

// searchRE matches clang's list of the directories in which it searches headers (-v).
var searchRE = lazyregexp.New(`(?s)search starts here:\n(.*?)End of search list`)

// absent returns the paths under which the missing headers would have been found: below the
// directories of clang's search list, and next to the files that were read, which may have included
// them. The user may install the headers, and then the recovery is not needed.
func (r *recovery) absent(ctx context.Context, deps []dependency) ([]string, error) {
	if len(r.stubs) == 0 {
		return nil, nil
	}
	args := append(r.b.languageArgs(), r.b.includeArgs()...)
	args = append(args, r.b.opt.Args...)
	cmd := command(ctx, r.b.tc.Clang, append(args, "-fsyntax-only", "-v", "--", os.DevNull)...)
	text, err := cmd.CombinedOutput()
	list := searchRE.FindSubmatch(text)
	if err != nil || list == nil {
		return nil, fmt.Errorf("no list of include directories from %s", r.b.tc.Clang)
	}
	dirs := []string{filepath.Dir(r.b.path)}
	for _, line := range strings.Split(string(list[1]), "\n") {
		if strings.HasPrefix(line, " ") {
			dirs = append(dirs, strings.TrimSpace(line))
		}
	}
	for _, d := range deps {
		if !isSystemPath(d.Path) {
			dirs = append(dirs, filepath.Dir(d.Path))
		}
	}
	slices.Sort(dirs)
	var paths []string
	for _, dir := range slices.Compact(dirs) {
		for _, name := range r.stubs {
			if path, err := filepath.Abs(filepath.Join(dir, name)); err == nil {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// addEdited adds the files from which something was removed to those that an entry depends on. The
// input itself is part of the key.
func (r *recovery) addEdited(e *cacheEntry) error {
	input, _ := filepath.Abs(r.b.path)
	for _, abs := range slices.Sorted(maps.Keys(r.edits)) {
		same := func(d dependency) bool { path, _ := filepath.Abs(d.Path); return path == abs }
		if abs == input || slices.ContainsFunc(e.Deps, same) {
			continue
		}
		d, err := newDependency(abs)
		if err != nil {
			return err
		}
		e.Deps = append(e.Deps, d)
	}
	return nil
}

// blank removes the host code at a position: at the first call the statement, then the body, then
// the declaration. It returns false for device code, and if nothing is left to remove.
func (r *recovery) blank(file string, line, col int, msg string) bool {
	e := r.open(file)
	if e == nil {
		return false
	}
	off := offsetOf(e.orig, line, col)
	for _, r := range e.round {
		if off >= r[0] && off < r[1] {
			return true // another error in a range that is already removed
		}
	}
	found, ok := declAt(e.orig, off)
	if !ok {
		return r.blankClass(e, diagnostic{file, line, col, msg}, off)
	}
	if r.isDevice(file, e.orig, found) {
		return e.adapt(found, off, msg) ||
			r.refuse(e, found, diagnostic{file, line, col, msg}, off)
	}
	d := e.decls[found.start]
	if d == nil {
		d = &editedDecl{declaration: found}
		e.decls[found.start] = d
		r.warnIgnored(e, line, col, msg)
	}
	for ; d.level < 3; d.level++ {
		start, end := d.start, d.end
		switch {
		case d.level < 2 && (d.bodyStart < 0 || off < d.bodyStart || off >= d.bodyEnd):
			continue
		case d.level == 0:
			start, end = statementAt(e.orig, d.declaration, off)
		case d.level == 1:
			start, end = d.bodyStart, d.bodyEnd
		case !r.removable(file, e, d.declaration):
			return false
		}
		if e.takeOut(start, end, d.level == 0) {
			return true
		}
	}
	return false
}

// macroNameRE matches clang's error about a name that is not declared and looks like a macro.
var macroNameRE = lazyregexp.New(`^unknown type name '([A-Z][A-Z0-9_]*)'`)

// takeMacros removes the macros of missing headers that are alone on their lines, such as those that
// open or close a namespace: each would take the declaration behind it along. It reports whether
// there are any.
func (r *recovery) takeMacros(output string) bool {
	found := false
	for _, m := range diagRE.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		if m[4] != "error" || !macroNameRE.MatchString(m[5]) {
			continue
		}
		if e := r.open(m[1]); e != nil && e.takeMacro(offsetOf(e.orig, line, col), m[5]) {
			r.warnIgnored(e, line, col, m[5])
			found = true
		}
	}
	return found
}

// takeMacro removes the macro at an offset if it is alone on its line.
func (e *edited) takeMacro(off int, msg string) bool {
	m := macroNameRE.FindStringSubmatch(msg)
	if m == nil {
		return false
	}
	start := bytes.LastIndexByte(e.orig[:off], '\n') + 1
	line, _, _ := bytes.Cut(e.orig[start:], []byte{'\n'})
	return string(bytes.TrimSpace(line)) == m[1] && e.takeOut(off, off+len(m[1]), false)
}

// warnIgnored adds the warning for host code that is removed because of an error.
func (r *recovery) warnIgnored(e *edited, line, col int, msg string) {
	r.warnings = append(r.warnings,
		e.place(line, col)+": heddle ignores host code that does not compile: "+msg)
}

// unknownScopeRE matches clang's error about the namespace or the template in a name.
var unknownScopeRE = lazyregexp.New(
	`^(use of undeclared identifier|no (?:template|struct|class) named) '(\w+)'`)

// blankClass removes a class with an error in its head, such as a base that a missing header
// defines. Its members cannot stay, since they may be those of the base. It returns false if the
// name of the class could then mean something else.
func (r *recovery) blankClass(e *edited, at diagnostic, off int) bool {
	d, ok := classAt(e.orig, off)
	if !ok {
		return false
	}
	head := stripTemplate(strings.TrimSpace(string(e.orig[d.start:d.headEnd()])))
	name := className(head)
	all := declaration{d.start, d.end, -1, -1}
	inner := len(enclosingClasses(e.orig, d.start)) > 1 // the class itself is the first
	// A specialization of a template that does not exist has no effect.
	unknown := unknownScopeRE.FindStringSubmatch(at.msg)
	missing := unknown != nil && specialRE.Match(e.orig[d.start:d.end]) &&
		regexp.MustCompile(`^(struct|class)\s+`+unknown[2]+`\b`).MatchString(head)
	if inner || !missing && !r.soleOwner(at.file, e, all, name) ||
		!e.takeOut(d.start, d.end, false) {
		return false
	}
	if r.isDevice(at.file, e.orig, all) {
		r.refusals = append(r.refusals, &refusal{path: r.path(at.file), file: e, decl: all, name: name,
			reason: e.place(at.line, at.col) + ": " + at.msg})
		return true
	}
	r.warnIgnored(e, at.line, at.col, at.msg)
	return true
}

// takeOut replaces a range by spaces. A launch with template arguments leaves a reference to its
// kernel; if that does not compile either, the next call removes it too. takeOut reports whether
// the text changed.
func (e *edited) takeOut(start, end int, statement bool) bool {
	if start >= end {
		return false
	}
	text := blanked(e.text, start, end)
	if k := launchedKernel(string(e.orig[start:end])); statement && k != "" &&
		bytes.Equal(e.text[start:end], e.orig[start:end]) {
		if ref := "(void)&" + k + ";"; len(ref) <= end-start &&
			!bytes.ContainsRune(e.orig[start:start+len(ref)], '\n') {
			copy(text[start:], ref)
		}
	}
	if bytes.Equal(text, e.text) {
		return false
	}
	e.text = text
	e.round = append(e.round, [2]int{start, end})
	return true
}

// editable reports whether a file belongs to the user.
func (r *recovery) editable(file string) bool {
	abs, err := filepath.Abs(file)
	return err == nil && !strings.HasPrefix(abs, r.b.headers+string(filepath.Separator)) &&
		!r.b.isOurs(abs) && !r.b.libs.copy.has(abs) && (file == r.b.path || !isSystemPath(abs))
}

// open returns the editable file of that name; nil if it may not be edited or cannot be read.
func (r *recovery) open(file string) *edited {
	abs, err := filepath.Abs(file)
	if err != nil || !r.editable(file) {
		return nil
	}
	if e := r.edits[abs]; e != nil {
		return e
	}
	b, err := source.ReadRegular(abs, maxInput)
	if err != nil {
		return nil
	}
	e := &edited{orig: b, text: append([]byte(nil), b...), shown: file,
		decls: make(map[int]*editedDecl)}
	r.edits[abs] = e
	return e
}

// args writes the overlay and returns clang's options to use it.
func (r *recovery) args() ([]string, error) {
	var args []string
	if len(r.stubs) > 0 {
		args = append(args, "-idirafter", r.stubDir())
	}
	if len(r.edits) == 0 {
		return args, nil
	}
	texts := make(map[string][]byte)
	for abs, e := range r.edits {
		texts[abs] = e.text
	}
	overlay, err := writeOverlay(r.b.tmp, "edited", texts)
	return append(args, overlay...), err
}

// offsetOf returns the byte offset of a line and column, at most the length of the text.
func offsetOf(src []byte, line, col int) int {
	off := 0
	for line > 1 && off < len(src) {
		if src[off] == '\n' {
			line--
		}
		off++
	}
	return min(off+col-1, len(src))
}
