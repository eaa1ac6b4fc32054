package launch

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// Unfollowed returns the place of the first use of a kernel's name in a file that is neither a
// declaration nor a launch that the facts have: its address may be taken there, or a launch may
// have a form that heddle does not follow, so that the kernel may be launched in other ways than
// known. It is invalid if there is no such use. Host code in other files is not looked at.
func Unfollowed(k *ir.Func, file *source.File, facts *SourceFacts) source.Pos {
	known := func(t token) bool {
		return facts != nil && slices.ContainsFunc(facts.Launches, func(l HostLaunch) bool {
			off, ok := file.Offset(l.Span.Start)
			return ok && l.Span.Start.File() == file.ID && off == t.start
		})
	}
	name := BaseName(k.Demangled)
	is := func(t token) bool { return t.kind == tokIdent && (t.text == name || t.text == k.Name) }
	toks := scanAll(file.Content, false)
	declares := false // since the last statement or body, a kernel is declared
	for _, t := range toks {
		switch {
		case t.kind == tokDirective:
			for _, u := range scanAll([]byte(t.text), false) {
				if is(u) {
					return file.PosAt(t.start)
				}
			}
		case t.is(";"), t.is("{"), t.is("}"):
			declares = false
		case t.is("__global__"), t.is("__kernel"), t.is("kernel"):
			declares = true
		case is(t) && !declares && !known(t):
			return file.PosAt(t.start)
		}
	}
	return 0
}
