package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/lazyregexp"
)

// The arguments of a launch. GPUVerify reasons about all parameter values that satisfy __requires;
// a run needs specific ones. For parameters in preconditions, a search finds values that satisfy
// all supported preconditions, among the numbers in the preconditions and their neighbors, the
// sizes of the launch, and powers of two. Other parameters keep heddle's default. A run that
// violates a precondition is discarded, and the next choice is tried.

// kernelText holds the facts about one kernel that a search in its source text yields.
type kernelText struct {
	name      string
	scalars   []string // names of the integer parameters
	pointers  []string // names of the pointer parameters
	others    []string // names of parameters of other types, such as function pointers
	values    []string // scalars and others, in the order of declaration
	functions []string // names of the functions of the file
	requires  []string // preconditions
}

var kernelRE = lazyregexp.New(`(?:\b__global__|\b__kernel|(?m:^|\s)kernel)\b[^;{}()]*?(?:__attribute__\s*\(\([^)]*\)*\s*\)\)|__launch_bounds__\s*\([^)]*\))?[^;{}()]*?\b(\w+)\s*\(([^)]*)\)\s*\{`)

// kernelsOf finds the kernels of a source text by patterns: name, parameters and preconditions. It
// does not parse C++. A kernel that it misses runs with heddle's default arguments.
func kernelsOf(src string) []kernelText {
	src = stripComments(src)
	macros := objectMacroRE.FindAllStringSubmatch(src, -1)
	var out []kernelText
	for _, m := range kernelRE.FindAllStringSubmatchIndex(src, -1) {
		k := kernelText{name: src[m[2]:m[3]]}
		for p := range strings.SplitSeq(src[m[4]:m[5]], ",") {
			k.param(p)
		}
		for _, f := range functionRE.FindAllStringSubmatch(src, -1) {
			k.functions = append(k.functions, f[1])
		}
		// Preconditions inside of called functions are left to the run.
		body := bodyOf(src[m[1]-1:])
		for _, form := range []string{"__requires", "__global_requires", "__assume"} {
			for _, text := range argumentsOf(body, form) {
				k.requires = append(k.requires, expand(text, macros))
			}
		}
		out = append(out, k)
	}
	return out
}

var (
	objectMacroRE = lazyregexp.New(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$`)
	wordRE        = lazyregexp.New(`\b[A-Za-z_]\w*`)
)

// expand replaces macros without parameters by their text, in two passes, since one may be defined
// by another.
func expand(s string, macros [][]string) string {
	for range 2 {
		s = wordRE.ReplaceAllStringFunc(s, func(word string) string {
			for _, m := range macros {
				if m[1] == word {
					return strings.TrimSpace(m[2])
				}
			}
			return word
		})
	}
	return s
}

var commentRE = lazyregexp.New(`(?s)/\*.*?\*/|//[^\n]*`)

// stripComments replaces comments by a space.
func stripComments(s string) string { return commentRE.ReplaceAllString(s, " ") }

var paramRE = lazyregexp.New(`^\s*(?:const\s+|__private\s+|unsigned\s+|signed\s+)*(?:unsigned|int|uint|long|ulong|short|ushort|char|uchar|size_t|bool)?(?:\s+(?:int|const))*\s+(\w+)\s*$`)

var (
	functionRE = lazyregexp.New(`\b(\w+)\s*\([^;{}()]*\)\s*\{`)
	nameRE     = lazyregexp.New(`(\w+)\s*(?:\[[^\]]*\]\s*)*$`)
)

// param classifies the declaration of a parameter by its text. A pointer is anything with * or [].
func (k *kernelText) param(p string) {
	name := nameRE.FindStringSubmatch(p)
	switch {
	case name == nil:
	case strings.Contains(p, "local "): // local memory: no buffer
	case strings.ContainsAny(p, "*["):
		k.pointers = append(k.pointers, name[1])
	case paramRE.MatchString(p):
		k.scalars, k.values = append(k.scalars, name[1]), append(k.values, name[1])
	default:
		k.others, k.values = append(k.others, name[1]), append(k.values, name[1])
	}
}

// bodyOf returns the text between the braces, of which s starts with the first.
func bodyOf(s string) string {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i]
			}
		}
	}
	return s
}

// argumentsOf returns the argument texts of all calls of a function, up to the matching
// parenthesis.
func argumentsOf(s, name string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`\b`+name+`\s*\(`).FindAllStringIndex(s, -1) {
		depth := 1
		for i := m[1]; i < len(s); i++ {
			switch s[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				out = append(out, s[m[1]:i])
				break
			}
		}
	}
	return out
}

// maxChoices is the maximum number of choices of arguments for one kernel. Each costs a process.
const maxChoices = 6

// Values from functionBase on represent functions, by their index.
const functionBase = 1 << 40

// choices returns the arguments to try for a launch, the most plausible first. There is at least
// one.
func (k *kernelText) choices(grid, block event.Dim3, defines map[string]int64) [][]string {
	s := search{k: k, known: launchNames(grid, block), values: map[string]int64{}, limit: maxChoices}
	maps.Copy(s.known, defines)
	// A function pointer can be any function of the file.
	for i, f := range k.functions {
		s.known[f] = functionBase + int64(i)
		s.functions = append(s.functions, functionBase+int64(i))
	}
	// Small numbers and powers of two satisfy most preconditions; sizes of the launch and the numbers
	// of the preconditions with their neighbors satisfy most of the rest.
	s.candidates = []int64{1, 2, 3, 4, 7, 8, 16, 32, 64, 100, 128, 256, 1024, 0, -1}
	for _, v := range launchNames(grid, block) {
		s.candidates = append(s.candidates, v, 2*v)
	}
	for _, text := range k.requires {
		e, used, numbers, err := parseExpr(text)
		if err != nil { // left to the run
			continue
		}
		s.conds = append(s.conds, e)
		for _, n := range used {
			if (slices.Contains(k.scalars, n) || slices.Contains(k.others, n)) &&
				!slices.Contains(s.names, n) {
				s.names = append(s.names, n)
			}
		}
		for _, n := range numbers {
			s.candidates = append(s.candidates, n, n+1, n-1, 2*n)
		}
	}
	s.candidates = distinct(s.candidates)
	slices.SortStableFunc(s.candidates,
		func(a, b int64) int { return cmp.Compare(unlikely(a), unlikely(b)) })
	// The search is exponential in the number of names.
	if len(s.names) > 0 && len(s.names) <= 4 {
		s.assign(0)
	}
	// Without a choice, the run uses heddle's defaults and may be outside the assumptions.
	if len(s.found) == 0 {
		return [][]string{nil}
	}
	return s.found
}

// given assigns hexadecimal values to the non-pointer parameters, in the order of declaration.
func (k *kernelText) given(values []string) []string {
	var args []string
	for i, v := range values {
		if i >= len(k.values) {
			break
		}
		if name := k.values[i]; slices.Contains(k.scalars, name) {
			args = append(args, name+"="+v)
		} else {
			args = append(args, name+"=hex:"+littleEndian(strings.TrimPrefix(v, "0x")))
		}
	}
	return args
}

// littleEndian reverses the bytes of a hexadecimal number with an even number of digits, since
// --arg takes bytes in the order of memory.
func littleEndian(hex string) string {
	var b strings.Builder
	for i := len(hex) - 2; i >= 0; i -= 2 {
		b.WriteString(hex[i : i+2])
	}
	return b.String()
}

// variants returns further launches for the same choice, with other contents of buffers and other
// values of free parameters. A race may depend on an index that a buffer holds.
func (k *kernelText) variants(choice []string) [][]string {
	var out [][]string
	for _, fill := range []string{"iota", "random"} {
		args := slices.Clone(choice)
		for _, p := range k.pointers {
			args = append(args, p+"="+fill)
		}
		if len(k.pointers) > 0 {
			out = append(out, args)
		}
	}
	for _, v := range []int{0, 1, 2, 3} {
		args := slices.Clone(choice)
		for _, n := range k.scalars {
			if !slices.ContainsFunc(choice, func(a string) bool { return strings.HasPrefix(a, n+"=") }) {
				args = append(args, fmt.Sprintf("%s=%d", n, v))
			}
		}
		if len(args) > len(choice) {
			out = append(out, args)
		}
	}
	return out
}

// unlikely ranks values: positive, not too large ones come first.
func unlikely(v int64) int {
	switch {
	case v > 0 && v <= 4096:
		return 0
	case v == 0:
		return 1
	}
	return 2
}

// distinct removes repeated values and keeps the order.
func distinct(in []int64) []int64 {
	var out []int64
	for _, v := range in {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// search enumerates values for names until enough choices satisfy the conditions.
type search struct {
	k          *kernelText
	names      []string
	candidates []int64
	functions  []int64
	conds      []expr
	known      map[string]int64
	values     map[string]int64
	found      [][]string
	limit      int // maximum length of found
	tried      int
}

// lookup returns the value of a name, and whether it is assigned or known.
func (s *search) lookup(name string) (int64, bool) {
	if v, ok := s.values[name]; ok {
		return v, true
	}
	if slices.Contains(s.names, name) { // not assigned yet
		return 0, false
	}
	v, ok := s.known[name]
	return v, ok
}

// assign tries each candidate for name i, then for the following ones. Conditions that cannot be
// evaluated (yet) are ignored; one that is false prunes the subtree. The number of steps is
// bounded, so some choices may be missed.
func (s *search) assign(i int) {
	for _, c := range s.conds {
		if v, err := c(s.lookup); err == nil && v == 0 {
			return
		}
	}
	if i == len(s.names) {
		s.found = append(s.found, s.arguments())
		return
	}
	// A parameter that is not an integer can only be a function here.
	candidates := s.candidates
	if slices.Contains(s.k.others, s.names[i]) {
		candidates = s.functions
	}
	for _, v := range candidates {
		if s.tried++; len(s.found) >= s.limit || s.tried > 1_000_000 {
			break
		}
		s.values[s.names[i]] = v
		s.assign(i + 1)
	}
	delete(s.values, s.names[i])
}

// arguments returns the current assignment in the form of --arg.
func (s *search) arguments() []string {
	var args []string
	for _, n := range s.names {
		if v := s.values[n]; v >= functionBase {
			args = append(args, n+"=func:"+s.k.functions[v-functionBase])
		} else {
			args = append(args, fmt.Sprintf("%s=%d", n, v))
		}
	}
	return args
}

// launchNames returns the values of the names by which kernels read the launch.
func launchNames(grid, block event.Dim3) map[string]int64 {
	m := map[string]int64{}
	g, b := [3]uint32{grid.X, grid.Y, grid.Z}, [3]uint32{block.X, block.Y, block.Z}
	for i, axis := range []string{"x", "y", "z"} {
		m["gridDim."+axis], m["blockDim."+axis] = int64(g[i]), int64(b[i])
		m[fmt.Sprintf("get_num_groups(%d)", i)] = int64(g[i])
		m[fmt.Sprintf("get_local_size(%d)", i)] = int64(b[i])
		m[fmt.Sprintf("get_global_size(%d)", i)] = int64(g[i]) * int64(b[i])
	}
	return m
}
