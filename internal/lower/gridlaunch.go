package lower

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// Launches of kernels by kernels. clang rejects K<<<grid, block>>>(args) in device code, whatever K
// is. But it lets constant expressions name a kernel, so that a launch to which its errors refer
// becomes
//
//	__heddle_grid<decltype(K), K>(grid, block)(args)
//
// in the text that clang reads (headers/heddle/grid.h). A launch in a function for both host and
// device is changed in both passes; there the template contains the ordinary launch. Where K is a
// template whose arguments are deduced, the types of the arguments, which must be those of the
// parameters, take the place of decltype(K). Device code must not choose one of several overloaded
// kernels, even in a constant expression, but a local class in it may: there the one is chosen by
// the types of the arguments, else by their number.
// All but the first part has the length of what it replaces, so that the first part is a mark
// (marked.go), by which columns are corrected.

// gridLaunch is a launch in the text of a file, as byte offsets.
type gridLaunch struct {
	start, open, close int // of the kernel, of <<< and of >>>
	args, end          int // of the arguments, in brackets
	form               gridForm
}

// gridForm is the form that a launch has in the text that clang reads.
type gridForm uint8

const (
	asWritten   gridForm = iota
	byKernel             // the type of the kernel is that of its name
	byArguments          // of a template, for just these types
	byTypes              // of the overloaded one with just these types
	byNumber             // of the only overloaded one with so many parameters
)

// gridFile is a file with launches, objects in shared memory, deduction guides, or names of member
// templates, that clang has rejected.
type gridFile struct {
	name     string
	content  []byte
	launches []gridLaunch
	objects  []sharedObject
	words    map[int]string // that clang reads before the name at an offset
	under    *markedFile    // whose text the content is; nil: the file has no other marks
	text     *markedFile    // for clang; nil: the content
}

// launchesIn finds the launches in the text of a file, in its order. It need not be exact, since
// only those count to which an error of clang refers.
func launchesIn(src []byte) []gridLaunch {
	s := &declScanner{src: src}
	var out []gridLaunch
	for i := 0; i < len(src); {
		if j := s.skipInert(i); j > i {
			i = j
			continue
		}
		if !bytes.HasPrefix(src[i:], []byte("<<<")) {
			i++
			continue
		}
		if l, ok := s.launchAt(i); ok {
			out = append(out, l)
		}
		i += 3
	}
	return out
}

// launchAt returns the launch whose <<< is at an offset.
func (s *declScanner) launchAt(open int) (l gridLaunch, ok bool) {
	l.start, l.open = kernelBefore(s.src, open), open
	l.close = s.skipTo(open+3, ">>>")
	if l.start == open || l.close < 0 {
		return l, false
	}
	l.args = s.skipBlank(l.close + 3)
	if l.args >= len(s.src) || s.src[l.args] != '(' {
		return l, false
	}
	l.end = s.skipTo(l.args+1, ")") + 1
	return l, l.end > 0
}

// skipTo returns the offset of a text outside of brackets and literals; -1 if it is not found.
func (s *declScanner) skipTo(i int, text string) int {
	depth := 0
	for i < len(s.src) {
		if j := s.skipInert(i); j > i {
			i = j
			continue
		}
		switch c := s.src[i]; {
		case depth == 0 && bytes.HasPrefix(s.src[i:], []byte(text)):
			return i
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ';' && depth == 0:
			return -1
		}
		i++
	}
	return -1
}

// kernelBefore returns the start of the name, or the expression in brackets, before an offset.
func kernelBefore(src []byte, at int) int {
	i := len(bytes.TrimRight(src[:at], " \t\r\n"))
	if i > 0 && src[i-1] == ')' {
		if open := openBefore(src, i, '(', ')'); open >= 0 {
			return open
		}
		return at
	}
	for {
		if i > 0 && src[i-1] == '>' {
			open := openBefore(src, i, '<', '>')
			if open < 0 {
				return at
			}
			i = len(bytes.TrimRight(src[:open], " \t\r\n"))
		}
		word := i
		for word > 0 && isWordByte(src[word-1]) {
			word--
		}
		if word == i {
			return at
		}
		i = len(bytes.TrimRight(src[:word], " \t\r\n"))
		if !bytes.HasSuffix(src[:i], []byte("::")) {
			return word
		}
		i -= 2
		rest := len(bytes.TrimRight(src[:i], " \t\r\n"))
		if rest == 0 || src[rest-1] != '>' && !isWordByte(src[rest-1]) || isKeyword(src[:rest]) {
			return i // ::name
		}
		i = rest
	}
}

// isKeyword reports whether a text ends with a word behind which an expression begins.
func isKeyword(text []byte) bool {
	return bytes.HasSuffix(text, []byte("return")) || bytes.HasSuffix(text, []byte("else")) ||
		bytes.HasSuffix(text, []byte("do"))
}

// openBefore returns the offset of the bracket that the one before an offset closes; -1 if there is
// none.
func openBefore(src []byte, end int, open, shut byte) int {
	depth := 0
	for i := end - 1; i >= 0; i-- {
		switch src[i] {
		case shut:
			depth++
		case open:
			if depth--; depth == 0 {
				return i
			}
		case ';', '{', '}':
			return -1
		}
	}
	return -1
}

// gridErrorRE matches the texts of clang's errors about a launch in device code.
var gridErrorRE = lazyregexp.New(`^(reference to __global__ function |` +
	`reference to __host__ function '(cudaConfigureCall|__cudaPushCallConfiguration)'|` +
	`no matching function for call to |` +
	`reference to overloaded function could not be resolved|` +
	`decltype cannot resolve address of overloaded function|` +
	`address of overloaded function '|value of type '<overloaded function type>'|` +
	`cannot determine the type of an overloaded function)`)

// rewrite changes what clang's errors refer to: launches, to the next form, objects in shared
// memory (sharedobject.go), deduction guides (guide.go), and names of member templates
// (templatename.go). It reports whether there is any. OpenCL C has none of them.
func (b *build) rewrite(output string) (changed bool, err error) {
	if b.cl != nil {
		return false, nil
	}
	done := make(map[*gridLaunch]bool) // a launch has several errors
	for _, m := range diagRE.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		if m[4] == "error" && strings.HasPrefix(m[5], sharedObjectError) {
			changed = b.rewriteObject(m[1], line, col) || changed
			continue
		}
		if m[4] == "note" && guideNoteRE.MatchString(m[5]) {
			changed = b.rewriteGuide(m[1], line, col) || changed
			continue
		}
		if m[4] == "note" {
			continue
		}
		var l *gridLaunch
		if gridErrorRE.MatchString(m[5]) {
			l = b.launchOf(m[1], line, col)
		}
		switch {
		case l == nil:
			changed = b.rewriteTemplate(m[1], line, col, m[5]) || changed
		case l.form != byNumber && !done[l]:
			l.form++
			done[l], changed = true, true
		}
	}
	if !changed {
		return false, nil
	}
	if b.marked == nil {
		b.marked = make(map[string]*markedFile)
	}
	texts := make(map[string][]byte)
	for abs, f := range b.grids {
		if f.text, err = f.rewritten(); err != nil {
			return false, err
		}
		f.text.under = f.under
		b.marked[abs] = f.text
	}
	for abs, f := range b.marked {
		texts[abs] = f.text
	}
	b.overlay, err = writeOverlay(b.tmp, "grids", texts)
	return true, err
}

// rewriteObject changes the object in shared memory whose name is at a place of clang's text of a
// file. It returns false if it cannot, or has done so.
func (b *build) rewriteObject(file string, line, col int) bool {
	f, at := b.gridFileAt(file, line, col)
	if f == nil {
		return false
	}
	o, ok := objectAt(f.content, at)
	if !ok || slices.Contains(f.objects, o) {
		return false
	}
	f.objects = append(f.objects, o)
	return true
}

// launchOf returns the launch at a place of clang's text of a file, up to its arguments; nil if
// there is none.
func (b *build) launchOf(file string, line, col int) *gridLaunch {
	f, at := b.gridFileAt(file, line, col)
	if f == nil {
		return nil
	}
	for i := range f.launches {
		if l := &f.launches[i]; at >= l.start && at < l.args {
			return l
		}
	}
	return nil
}

// gridFileAt returns a file of the user and the offset of a place of clang's text of it; nil if the
// file may not be edited.
func (b *build) gridFileAt(file string, line, col int) (*gridFile, int) {
	abs, err := filepath.Abs(file)
	if err != nil || !(&recovery{b: b}).editable(file) {
		return nil, 0
	}
	f := b.grids[abs]
	if f == nil {
		f = &gridFile{name: file, under: b.marked[abs]}
		if f.under != nil {
			f.content = f.under.text
		} else if f.content, err = source.ReadRegular(abs, maxInput); err != nil {
			return nil, 0
		}
		f.launches = launchesIn(f.content)
		if b.grids == nil {
			b.grids = make(map[string]*gridFile)
		}
		b.grids[abs] = f
	}
	if f.text != nil {
		col = f.text.before(line, col)
	}
	return f, offsetOf(f.content, line, col)
}

// insert puts a word before the name at an offset. It returns false if there is one.
func (f *gridFile) insert(at int, word string) bool {
	if f.words[at] != "" {
		return false
	}
	if f.words == nil {
		f.words = make(map[int]string)
	}
	f.words[at] = word
	return true
}

// rewritten returns the text of a file for clang.
func (f *gridFile) rewritten() (*markedFile, error) {
	text := bytes.Clone(f.content)
	var marks []Mark
	for i := range f.launches {
		l := &f.launches[i]
		if l.form == asWritten {
			continue
		}
		copy(text[l.open:], ">( ")
		copy(text[l.close:], ")  ")
		if l.form > byArguments {
			blank(text[l.start:l.open])
			copy(text[l.open:], "(  ")
		}
		marks = append(marks, Mark{l.start, l.grid(f.content)})
	}
	for at, word := range f.words {
		marks = append(marks, Mark{at, word})
	}
	for i := range f.objects {
		marks = append(marks, f.objects[i].rewrite(text)...)
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Offset - b.Offset })
	return mark(Marked{Name: f.name, Content: text, Marks: marks})
}

// blank overwrites code with spaces, and leaves its lines.
func blank(code []byte) {
	for i, c := range code {
		if c != '\n' {
			code[i] = ' '
		}
	}
}

// grid returns what stands before the kernel in the form that the launch has, or in its place.
func (l *gridLaunch) grid(src []byte) string {
	kernel, args := oneLine(src[l.start:l.open]), splitArguments(src[l.args+1:l.end-1])
	var types []string
	for _, a := range args {
		types = append(types, "typename __heddle_passed<decltype("+a+")>::type")
	}
	typ := "void(" + strings.Join(types, ", ") + ")"
	switch l.form {
	case byKernel:
		return "__heddle_grid<decltype(" + kernel + "), "
	case byArguments:
		return "__heddle_grid<" + typ + ", "
	case byNumber:
		typ = fmt.Sprintf("decltype(*__heddle_arity<%d>::__heddle_pick(%s))", len(args), kernel)
	}
	return "[] { struct __heddle_one { typedef typename __heddle_overloaded<" + typ +
		">::template of<" + kernel + "> kernel; }; return typename __heddle_one::kernel(); }().grid"
}

// splitArguments splits the arguments of a call at the commas outside of brackets and literals.
func splitArguments(src []byte) []string {
	s := &declScanner{src: src}
	var out []string
	for at := 0; at < len(src); {
		end := s.skipTo(at, ",")
		if end < 0 {
			end = len(src)
		}
		if a := oneLine(src[at:end]); a != "" {
			out = append(out, a)
		}
		at = end + 1
	}
	return out
}

// oneLine returns code without comments and line breaks.
func oneLine(src []byte) string {
	s := &declScanner{src: src}
	var out []byte
	for i := 0; i < len(src); {
		if j := s.skipBlank(i); j > i {
			out = append(out, ' ')
			i = j
			continue
		}
		j := i + 1
		if src[i] == '"' || src[i] == '\'' {
			j = s.skipQuoted(i)
		}
		out = append(out, src[i:j]...)
		i = j
	}
	return strings.TrimSpace(string(out))
}

// rewriteArgs returns the options that include what rewrite needs: the header of rewritten launches,
// and those of names whose header is not included.
func (b *build) rewriteArgs() (args []string) {
	if len(b.grids) > 0 {
		args = append(args, "-include", filepath.Join(b.headers, "heddle", "grid.h"))
	}
	if len(b.declared) > 0 {
		args = append(args, "-include", b.declaredFile())
	}
	return args
}

// gridHelp returns what to do about an error of clang in a rewritten launch; "" for others.
func gridHelp(diagnostics string) string {
	if !strings.Contains(diagnostics, "no matching function for call to '__heddle_grid'") &&
		!strings.Contains(diagnostics, "no matching function for call to '__heddle_pick'") {
		return ""
	}
	return "write the template arguments of a kernel that device code launches, K<T><<<...>>>(...), " +
		"and give overloaded kernels with as many parameters different names"
}
