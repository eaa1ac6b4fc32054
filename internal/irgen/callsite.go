package irgen

import (
	"path"
	"strconv"
	"strings"

	"heddle/internal/source"
)

// Kernels that a compiler makes from Python (Triton, CuTe DSL) have the Python files in .file, and
// most of what they do is inlined from the compiler's own library of functions. The back end of
// LLVM writes the call sites of such code with .loc only if it is asked to. Otherwise they are in
// the comment behind the directive, as LLVM prints any place:
//
//	.loc	2 189 40     // standard.py:189:40 @[ row_max.py:10:18 ]
//
// A call site there has the name of its file without the directory. Older versions of LLVM write
// no call sites.

// pythonLibraries are the directories of such libraries, as a part of the path of a file. No kernel
// is defined in them.
var pythonLibraries = []string{
	"/triton/language/",
	"/triton/experimental/gluon/language/",
	"/nvidia_cutlass_dsl/",
}

// pythonLibrary returns the directory of the library of Triton or CuTe DSL that a file belongs to,
// which ends with a slash; "" for another file.
func pythonLibrary(name string) string {
	for _, dir := range pythonLibraries {
		if i := strings.LastIndex(name, dir); i >= 0 {
			return name[:i+len(dir)]
		}
	}
	return ""
}

// commented returns the frame of the innermost of some call sites (ptx.Loc.CallSites); no frame if
// there are none, or if the text is not one that LLVM prints.
func (t *lineTable) commented(text string) recentFrame {
	if text == "" {
		return recentFrame{}
	}
	f, ok := t.sites[text]
	if !ok {
		if f = t.readSites(text); t.sites != nil {
			t.sites[text] = f
		}
	}
	return f
}

// readSites is commented without the memory of earlier texts.
func (t *lineTable) readSites(text string) recentFrame {
	sites := strings.Split(text, " @[ ")
	if closed := len(sites) - 1; closed > 0 {
		last := sites[closed]
		trimmed := strings.TrimSuffix(last, strings.Repeat(" ]", closed))
		if trimmed == last {
			return recentFrame{}
		}
		sites[closed] = trimmed
	}
	if len(sites) > maxInline {
		return recentFrame{}
	}
	var parent recentFrame
	for i := len(sites) - 1; i >= 0; i-- { // from the kernel inwards
		fn := ""
		if parent.frame == nil {
			fn = t.fn
		}
		pos := t.sitePos(sites[i], parent.frame == nil)
		if !pos.IsValid() {
			continue // an unknown place in between leaves a gap
		}
		if parent.frame == nil && t.inlinedElsewhere(pos) {
			fn, parent = "", recentFrame{t.own, 1} // some versions give the call the file of the callee
		}
		parent = recentFrame{t.intern(frameKey{fn, pos, parent.frame}), parent.depth + 1}
	}
	return parent
}

// sitePos returns the position of NAME:LINE:COL. Of several files of that name, the one of the
// function itself is meant if outer is set, and otherwise none: the text does not say which. It is
// invalid for a file that no .file names, since its directory is unknown.
func (t *lineTable) sitePos(site string, outer bool) source.Pos {
	name, line, col := placeOf(site)
	if name == "" || line <= 0 {
		return 0
	}
	listed := t.listed[path.Base(name)]
	if len(listed) > maxSameName {
		return 0
	}
	var found source.FileID
	for _, f := range listed {
		if f.name != name && !strings.HasSuffix(f.name, "/"+name) {
			continue
		}
		if outer && t.own != nil && f.id == t.own.Pos.File() {
			found = f.id
			break
		}
		if found != 0 && found != f.id {
			return 0
		}
		found = f.id
	}
	if found == 0 {
		return 0
	}
	return source.MakePos(found, line, t.column(found, min(col, 1<<19)))
}

// maxSameName bounds the files of one name among which the one of a call site is looked for.
const maxSameName = 64

// inlinedElsewhere reports whether a place in the function must have been inlined, at a place that
// is not known: it is in a library of which the function is no part.
func (t *lineTable) inlinedElsewhere(pos source.Pos) bool {
	return t.inlined[pos.File()] && t.own != nil
}

// placeOf divides NAME:LINE:COL, in which the column may be missing; an empty name for another
// text.
func placeOf(site string) (name string, line, col int) {
	rest, last, ok := cutLast(site)
	if !ok {
		return "", 0, 0
	}
	if name, line, ok := cutLast(rest); ok {
		return name, line, last
	}
	return rest, last, 0
}

// cutLast divides a text at its last colon, behind which a number follows.
func cutLast(s string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, false
	}
	v, err := strconv.ParseUint(s[i+1:], 10, 27)
	return s[:i], int(v), err == nil
}
