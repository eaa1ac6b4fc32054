package launch

import (
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// changedVariables returns the names of module variables that host code may change, wherever it
// does: those that it copies to, and those that it can point to, which are true. It can point to
// those whose address it asks for, and to managed ones.
func changedVariables(toks []token) map[string]bool {
	out := make(map[string]bool)
	for i, t := range toks {
		which, address := 0, false
		switch {
		case t.kind != tokIdent:
			continue
		case t.is("__managed__"):
			end := slices.IndexFunc(toks[i:], func(t token) bool { return t.is(";") })
			for _, part := range splitList(toks[i+1 : i+max(end, 1)]) {
				out[declaredName(part)] = true
			}
			continue
		case strings.HasPrefix(t.text, "cudaMemcpyToSymbol"):
		case t.is("cudaGetSymbolAddress"):
			which, address = 1, true
		default:
			continue
		}
		open := i + 1
		if open < len(toks) && toks[open].is("<") { // of a template
			open = skipAngles(toks, open) + 1
		}
		if open >= len(toks) || !toks[open].is("(") {
			continue
		}
		shut := closing(toks, open)
		if !toks[shut].is(")") { // the file ends in the call
			continue
		}
		if args := splitList(toks[open+1 : shut]); which < len(args) {
			name := symbolName(args[which])
			out[name] = out[name] || address
		}
	}
	return out
}

// declaredName is the name in a declaration: n of "int n[4] = {1, 2}".
func declaredName(toks []token) string {
	end := slices.IndexFunc(toks, func(t token) bool {
		return t.is("=") || t.is("[") || t.is("{") || t.is("(")
	})
	if end < 0 {
		end = len(toks)
	}
	return symbolName(toks[:end])
}

// initial names the variables of the kernel that have their initial values in a run, although host
// code may change them. Nothing is known of their contents at the launch.
func (r *resolver) initial(facts *SourceFacts) {
	if facts == nil || len(facts.changed) == 0 || r.cfg.Vars != nil {
		return
	}
	for _, v := range ir.ReachableVars(r.k) {
		name := BaseName(v.Shown())
		_, known := r.cfg.Symbols[name]
		_, changed := facts.changed[name]
		if changed && !known && (v.Space == event.Global || v.Space == event.Const) &&
			!slices.Contains(r.cfg.Initial, name) {
			r.cfg.Initial = append(r.cfg.Initial, name)
		}
	}
	slices.Sort(r.cfg.Initial)
}

// Addressable reports whether pointers of the host code may point to a module variable.
func (s *SourceFacts) Addressable(v *ir.Var) bool { return s.changed[BaseName(v.Shown())] }
