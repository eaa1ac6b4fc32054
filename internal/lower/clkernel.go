package lower

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// Changes to clang's IR for OpenCL C before opt runs. NVPTX is not a target for which clang
// compiles OpenCL C as OpenCL implementations do, so some of its features do not reach PTX without
// them.

// prepareOpenCL rewrites a module that clang compiled from OpenCL C.
func prepareOpenCL(m *irModule) {
	inlineFunctions(m)
	workGroupSizes(m)
	calledKernels(m)
	accessComponents(m)
	keepDivisions(m)
}

// inlineFunctions makes functions internal that are inline but not static: if they are not inlined,
// C would use an external definition, which does not exist.
func inlineFunctions(m *irModule) {
	for _, f := range m.funcs {
		if rest, ok := strings.CutPrefix(f.define, "define available_externally "); ok {
			f.define = "define internal " + strings.TrimPrefix(rest, "dso_local ")
		}
	}
}

// Attachments of a define line, the one with the work-group size, and its numbers.
var (
	definedAttachRE = lazyregexp.New(` ![a-z_][\w.]* ![0-9]+`)
	reqdSizeRE      = lazyregexp.New(` !reqd_work_group_size (![0-9]+)`)
	i32RE           = lazyregexp.New(`i32 ([0-9]+)`)
)

// workGroupSizes replaces reqd_work_group_size, which the back end ignores, by the annotations that
// become .reqntid. It drops the other attachments of functions except debug info.
func workGroupSizes(m *irModule) {
	next := metaBase - 1000
	for _, f := range m.funcs {
		if s := reqdSizeRE.FindStringSubmatch(f.define); s != nil && f.kernel {
			sizes := i32RE.FindAllStringSubmatch(m.meta[s[1]], -1)
			for i, dim := range []string{"x", "y", "z"} {
				if i >= len(sizes) {
					break
				}
				next--
				m.annotate(f, fmt.Sprintf("!%d", next), fmt.Sprintf(`!"reqntid%s", i32 %s`, dim, sizes[i][1]))
			}
		}
		f.define = definedAttachRE.ReplaceAllStringFunc(f.define, func(a string) string {
			if strings.HasPrefix(a, " !dbg ") {
				return a
			}
			return ""
		})
	}
}

// annotate adds an annotation of a kernel, in the same form as the annotation that marks it as a
// kernel.
func (m *irModule) annotate(f *irFunc, id, what string) {
	node := fmt.Sprintf("!{ptr @%s, %s}", f.name, what)
	for _, v := range m.meta {
		if kernelMetaRE.MatchString(v) && symbolIn(v) == f.name {
			node = strings.Replace(v, `!"kernel", i32 1`, what, 1)
		}
	}
	m.meta[id] = node
	m.order = append(m.order, id)
	for i, line := range m.named {
		if rest, ok := strings.CutPrefix(line, "!nvvm.annotations = !{"); ok {
			m.named[i] = "!nvvm.annotations = !{" + id + ", " + rest
			return
		}
	}
	m.named = append(m.named, "!nvvm.annotations = !{"+id+"}")
}

// calledKernelRE matches a call of a kernel.
var calledKernelRE = lazyregexp.New(
	`call (?:spir_kernel|ptx_kernel) [^@]*@("[^"]*"|[\w.$-]+)\(`)

// calledKernels adds a copy of each kernel that another function calls, which OpenCL C allows
// (6.9). The copy is an ordinary function, and the calls use it: in PTX, only a launch can start an
// .entry.
func calledKernels(m *irModule) {
	byName := make(map[string]*irFunc)
	for _, f := range m.funcs {
		if f.kernel {
			byName[f.name] = f
		}
	}
	made := make(map[string]bool)
	for i := 0; i < len(m.funcs); i++ {
		for j, line := range m.funcs[i].body {
			s := calledKernelRE.FindStringSubmatch(line)
			if s == nil || byName[strings.Trim(s[1], `"`)] == nil {
				continue
			}
			name := strings.Trim(s[1], `"`)
			line = strings.Replace(line, "@"+s[1]+"(", "@"+name+".called(", 1)
			m.funcs[i].body[j] = kernelCCRE.ReplaceAllString(line, "")
			if made[name] {
				continue
			}
			made[name] = true
			k := *byName[name]
			k.name, k.kernel = name+".called", false
			k.define = strings.Replace(k.define, "@"+s[1]+"(", "@"+k.name+"(", 1)
			k.define = strings.Replace(kernelCCRE.ReplaceAllString(k.define, ""), "define dso_local ",
				"define internal ", 1)
			k.define = defineDbgRE.ReplaceAllString(k.define, "") // a subprogram belongs to one function
			k.body = slices.Clone(k.body)
			m.funcs = append(m.funcs, &k)
		}
	}
}

// kernelCCRE matches the calling convention of a kernel.
var kernelCCRE = lazyregexp.New(`(spir_kernel|ptx_kernel) `)
