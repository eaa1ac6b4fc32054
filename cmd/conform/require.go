package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/event"
)

// The arguments of a launch. GPUVerify reasons about every value of a parameter that satisfies __requires;
// a run needs one. For the parameters that preconditions name, values are searched that satisfy all
// preconditions that can be read here: numbers in the preconditions and beside them, sizes of the launch,
// powers of two. Other parameters keep the default of heddle. A run that finds a precondition violated all
// the same is discarded, and the next choice tried.

// kernelText is what the source says of one kernel.
type kernelText struct {
	name     string
	scalars  []string // names of the integer parameters
	requires []string // conditions
}

var kernelRE = regexp.MustCompile(`(?:\b__global__|\b__kernel|(?m:^|\s)kernel)\b[^;{}()]*?(?:__attribute__\s*\(\([^)]*\)*\s*\)\)|__launch_bounds__\s*\([^)]*\))?[^;{}()]*?\b(\w+)\s*\(([^)]*)\)\s*\{`)

// kernelsOf finds the kernels of a source text.
func kernelsOf(src string) []kernelText {
	src = stripComments(src)
	var out []kernelText
	for _, m := range kernelRE.FindAllStringSubmatchIndex(src, -1) {
		k := kernelText{name: src[m[2]:m[3]]}
		for p := range strings.SplitSeq(src[m[4]:m[5]], ",") {
			if name, ok := integerParam(p); ok {
				k.scalars = append(k.scalars, name)
			}
		}
		body := bodyOf(src[m[1]-1:])
		for _, form := range []string{"__requires", "__global_requires"} {
			k.requires = append(k.requires, argumentsOf(body, form)...)
		}
		out = append(out, k)
	}
	return out
}

var commentRE = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)

func stripComments(s string) string { return commentRE.ReplaceAllString(s, " ") }

var paramRE = regexp.MustCompile(`^\s*(?:const\s+|__private\s+|unsigned\s+|signed\s+)*(?:unsigned|int|uint|long|ulong|short|ushort|char|uchar|size_t|bool)?(?:\s+(?:int|const))*\s+(\w+)\s*$`)

// integerParam reads one parameter's declaration.
func integerParam(p string) (string, bool) {
	if strings.ContainsAny(p, "*&[") {
		return "", false
	}
	m := paramRE.FindStringSubmatch(p)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// bodyOf returns the text within the brace that s begins with.
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

// argumentsOf lists the argument texts of the calls of a function.
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

// maxChoices bounds the choices of arguments for one kernel.
const maxChoices = 8

// choices returns the arguments to try for a launch, the likeliest first. There is always one.
func (k *kernelText) choices(grid, block event.Dim3, defines map[string]int64) [][]string {
	sizes := launchNames(grid, block)
	var conds []expr
	var names []string
	candidates := []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 0, 3, 7, 100, -1}
	for _, text := range k.requires {
		e, used, numbers, err := parseExpr(text)
		if err != nil {
			continue
		}
		conds = append(conds, e)
		for _, n := range used {
			if slices.Contains(k.scalars, n) && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		for _, n := range numbers {
			candidates = append([]int64{n, n + 1, n - 1, 2 * n}, candidates...)
		}
	}
	for _, v := range sizes {
		candidates = append(candidates, v, 2*v)
	}
	candidates = distinct(candidates)
	slices.SortStableFunc(candidates, func(a, b int64) int { return cmp.Compare(unlikely(a), unlikely(b)) })
	if len(names) == 0 || len(names) > 4 {
		return [][]string{nil}
	}
	s := search{names: names, candidates: candidates, conds: conds, sizes: sizes, defines: defines, values: map[string]int64{}}
	s.assign(0)
	if len(s.found) == 0 {
		return [][]string{nil}
	}
	return s.found
}

// unlikely puts positive values that are not too large first.
func unlikely(v int64) int {
	switch {
	case v > 0 && v <= 4096:
		return 0
	case v == 0:
		return 1
	}
	return 2
}

func distinct(in []int64) []int64 {
	var out []int64
	for _, v := range in {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// search tries values for names in turn.
type search struct {
	names      []string
	candidates []int64
	conds      []expr
	sizes      map[string]int64
	defines    map[string]int64
	values     map[string]int64
	found      [][]string
	tried      int
}

func (s *search) lookup(name string) (int64, bool) {
	for _, m := range []map[string]int64{s.values, s.sizes, s.defines} {
		if v, ok := m[name]; ok {
			return v, true
		}
	}
	return 0, false
}

// assign gives name i each candidate. A condition that cannot be evaluated yet, or at all, does not count.
func (s *search) assign(i int) {
	for _, c := range s.conds {
		if v, err := c(s.lookup); err == nil && v == 0 {
			return
		}
	}
	if i == len(s.names) {
		var args []string
		for _, n := range s.names {
			args = append(args, fmt.Sprintf("%s=%d", n, s.values[n]))
		}
		s.found = append(s.found, args)
		return
	}
	for _, v := range s.candidates {
		if s.tried++; len(s.found) >= maxChoices || s.tried > 1_000_000 {
			break
		}
		s.values[s.names[i]] = v
		s.assign(i + 1)
	}
	delete(s.values, s.names[i])
}

// launchNames are the names by which kernels read the launch.
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
