package lower

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// Facts about kernels that PTX cannot express are comments at the head of the text:
//
//	// heddle.kernel <mangled> <line> <column> <path of the source file>
//	// heddle.param <mangled> <index> <name> <ptr|val> <LLVM type>
//	// heddle.fields <mangled> <index> <offset of a pointer in a struct by value>...
//	// heddle.array <name> <bytes of an element> <dimension>...
//	// heddle.language cl
//	// heddle.library <directory of a library>
//
// so that `heddle ptx x.cu > x.ptx` preserves them. The type is last because it may contain spaces.

// writeFacts returns the comment lines. source returns the text of a file.
func writeFacts(low *lowered, source func(path string) []byte) string {
	var b strings.Builder
	for _, k := range low.kernels {
		fmt.Fprintf(&b, "// heddle.kernel %s %d %d %s\n", k.name, k.line,
			nameColumn(source(k.path), k.line, k.name), k.path)
		for i, p := range k.params {
			kind := "val"
			if p.Pointer {
				kind = "ptr"
			}
			fmt.Fprintf(&b, "// heddle.param %s %d %s %s %s\n", k.name, i, p.Name, kind, p.Type)
			if offsets, ok := k.fields[i]; ok {
				fmt.Fprintf(&b, "// heddle.fields %s %d", k.name, i)
				for _, off := range offsets {
					fmt.Fprintf(&b, " %d", off)
				}
				b.WriteByte('\n')
			}
		}
	}
	for _, a := range low.arrays {
		fmt.Fprintf(&b, "// heddle.array %s %d", a.name, a.elem)
		for _, d := range a.dims {
			fmt.Fprintf(&b, " %d", d)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// arrayFacts are the element size and the dimensions of a variable in global, shared or constant
// memory.
type arrayFacts struct {
	name string
	elem int64 // bytes
	dims []int64
}

// arrayRE matches the definition or declaration of such a variable up to its type.
var arrayRE = lazyregexp.New(
	`^@([\w$]+) = (?:[\w()]+ )*?addrspace\([134]\) (?:[\w()]+ )*?(?:global|constant) (\[.*)$`)

// arraysOf returns the arrays among the variables of a module. Names with other characters have
// another form in PTX and are left out, as are elements whose layout is unknown.
func arraysOf(head []string) []arrayFacts {
	l := newLayouts(head)
	var out []arrayFacts
	for _, line := range head {
		m := arrayRE.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		a := arrayFacts{name: m[1]}
		typ := leadingType(m[2])
		for strings.HasPrefix(typ, "[") {
			inner, _ := bracketed(typ)
			count, of, _ := strings.Cut(inner, " x ")
			n, err := strconv.ParseInt(count, 10, 32)
			if err != nil || n == 0 && len(a.dims) > 0 {
				break
			}
			a.dims, typ = append(a.dims, n), strings.TrimSpace(of)
		}
		if _, size, _, ok := l.scalars(typ); ok && size > 0 && len(a.dims) > 0 {
			a.elem = size
			out = append(out, a)
		}
	}
	return out
}

// nameColumn returns the column of a kernel's name in its line of the source, since line tables
// contain no columns of functions. It returns 1 if the name is not in the text because a macro
// produces it.
func nameColumn(src []byte, line int, mangled string) int {
	for range line - 1 {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return 1
		}
		src = src[i+1:]
	}
	text, _, _ := strings.Cut(string(src), "\n")
	base := baseName(mangled)
	for at := 0; base != ""; {
		i := strings.Index(text[at:], base)
		if i < 0 {
			break
		}
		i += at
		end := i + len(base)
		if (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end])) {
			return i + 1
		}
		at = end
	}
	return 1
}

// isWordByte reports whether c can be in an identifier of C.
func isWordByte(c byte) bool { return isSymbolByte(c) && c != '.' && c != '-' }

// baseName returns the unqualified name of a mangled name, without template arguments.
func baseName(mangled string) string {
	s, err := demangle.ToString(mangled, demangle.NoParams, demangle.NoTemplateParams)
	if err != nil {
		return mangled
	}
	s = strings.TrimSuffix(s, "<>")
	if i := strings.LastIndex(s, "::"); i >= 0 {
		s = s[i+2:]
	}
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// byValTypes sets the types of structs that are passed by value, from the sizes in the .entry
// headers of the PTX.
func byValTypes(ks []kernelFacts, ptx []byte) {
	sizes := make(map[string]string)
	for _, m := range byValRE.FindAllSubmatch(ptx, -1) {
		sizes[string(m[1])] = string(m[2])
	}
	for i := range ks {
		for j := range ks[i].params {
			if p := &ks[i].params[j]; p.Type == "" {
				p.Type = fmt.Sprintf("[%s x i8]", sizes[fmt.Sprintf("%s_param_%d", ks[i].name, j)])
			}
		}
	}
}

// byValRE matches a struct parameter with its size.
var byValRE = lazyregexp.New(`\.param \.align \d+ \.b8 ([\w$]+)\[(\d+)\]`)

// readFacts parses the comment lines at the head of a PTX text. It ignores other comments, and
// parameters that are out of order or belong to an unknown kernel: the text may come from a user.
func readFacts(text []byte) []Kernel {
	var ks []Kernel
	index := make(map[string]int)
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		s := strings.TrimRight(string(line), "\r")
		if !strings.HasPrefix(s, "//") {
			if strings.HasPrefix(strings.TrimSpace(s), ".") {
				break // the first directive ends the head
			}
			continue
		}
		f := strings.SplitN(s, " ", 7)
		if len(f) < 2 {
			continue
		}
		switch {
		case f[1] == "heddle.kernel" && len(f) >= 3:
			if _, ok := index[f[2]]; !ok {
				index[f[2]] = len(ks)
				ks = append(ks, Kernel{Name: f[2], Demangled: source.Unversioned(demangle.Filter(f[2]))})
			}
		case f[1] == "heddle.param" && len(f) == 7:
			k, ok := index[f[2]]
			n, err := strconv.Atoi(f[3])
			if !ok || err != nil || n != len(ks[k].Params) {
				continue
			}
			ks[k].Params = append(ks[k].Params, Param{Name: f[4], Pointer: f[5] == "ptr", Type: f[6]})
		}
	}
	return ks
}
