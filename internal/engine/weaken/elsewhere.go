package weaken

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
)

// What prevents every offer at a site, whatever it is: code that executes it and is not proved, and
// launches that are not known.

// elsewhere returns why a site may be executed in a way that is not examined; empty if it is not.
func (w *weakener) elsewhere(s *site) string {
	if s.called {
		return "it is in a function that is also called without being inlined"
	}
	req := w.opt.Common.Launch
	flags := req.Grid != nil || req.Block != nil || req.Global != nil || len(req.Args) > 0
	for k := range s.in {
		if !k.selected && flags {
			return fmt.Sprintf("%s executes it as well, for which the flags of the launch are not meant",
				k.fn.Demangled)
		}
		if line := w.unfollowed(k.fn); line > 0 {
			return fmt.Sprintf("line %d uses the kernel in a way that may launch it, which heddle does not "+
				"follow", line)
		}
	}
	return ""
}

// unfollowed returns the line of the user's file that names a kernel other than in a declaration or
// in a launch that is understood; 0 if there is none.
func (w *weakener) unfollowed(f *ir.Func) int {
	name := baseName(f.Demangled)
	text := withoutComments(w.user.Content)
	facts := w.base.in.Facts
	if w.base.in.OpenCL() {
		return 0 // its host code is elsewhere
	}
	for from := 0; ; {
		i := strings.Index(string(text[from:]), name)
		if i < 0 || name == "" {
			return 0
		}
		at, end := from+i, from+i+len(name)
		from = end
		word := (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end]))
		if !word || declares(text[:at]) {
			continue
		}
		launched := facts != nil && slices.ContainsFunc(facts.Launches, func(l launch.HostLaunch) bool {
			off, ok := w.user.Offset(l.Span.Start)
			return ok && l.Span.Start.File() == w.user.ID && off == at
		})
		if !launched {
			return w.pos(at).Line()
		}
	}
}

// declares reports whether the declaration of a kernel leads up to its name.
func declares(before []byte) bool {
	i := strings.LastIndexAny(string(before), ";{}")
	return strings.Contains(string(before[i+1:]), "__global__")
}

// baseName is the name of a kernel without its scope, template arguments and parameters.
func baseName(demangled string) string {
	depth, end := 0, len(demangled)
	for i := len(demangled) - 1; i >= 0; i-- {
		switch c := demangled[i]; {
		case c == ')' || c == '>':
			depth++
		case c == '(' || c == '<':
			if depth--; depth == 0 {
				end = i
			}
		case depth == 0 && !isWord(c):
			return demangled[i+1 : end]
		}
	}
	return demangled[:end]
}

// converses reports whether a kernel accesses global memory in a way in which threads talk to code
// outside the kernel: it polls or announces by strong loads and stores, or, with results, uses the
// results of atomic operations.
func converses(f *ir.Func, results bool) bool {
	used := registersRead(f)
	return contains(f, func(in *ir.Instr) bool {
		switch {
		case !isStrong(in) || in.Space == event.Shared:
			return false
		case isUpdate(in):
			return results && isUsed(in, used)
		}
		return in.Action() == isa.ActLoad || in.Action() == isa.ActStore
	})
}
