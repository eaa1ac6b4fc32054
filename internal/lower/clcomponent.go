package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// clang compiles `v.x = e` to a load of the complete vector, an insertion, and a store of the
// complete vector, and it reads `v.x` by loading the complete vector. The source accesses only the
// components that it names; accesses to the others would race with those of other work-items.
// accessComponents replaces such sequences by scalar accesses. It relies on the form of clang's
// unoptimized text: each loaded vector is used once, in one of the next lines.

// The instructions of these sequences. A pointer may be a constant expression, as in `s[3].x = 1`
// for an array of the work-group, and a vector may be a constant.
const (
	pointerPattern = `(<\d+ x \w+>(?: addrspace\(\d+\))?\*|ptr(?: addrspace\(\d+\))?) ` +
		`([%@][\w.]+|[a-z]\w* .*?\))(, align \d+)?(, ![a-z].*)?$`
	vectorPattern = `(<.*?>|[\w.%]+)`
)

var (
	vectorLoadRE = lazyregexp.New(
		`^  (%[\w.]+) = load (volatile )?(<(\d+) x (\w+)>), ` + pointerPattern)
	extractRE = lazyregexp.New(
		`^  (%[\w.]+) = extractelement (<\d+ x \w+>) (%[\w.]+), (i\d+) (\S+?)(, ![a-z].*)?$`)
	insertRE = lazyregexp.New(
		`^  (%[\w.]+) = insertelement (<\d+ x \w+>) (%[\w.]+), (\w+) (\S+), (i\d+) (\S+?)(, ![a-z].*)?$`)
	shuffleRE = lazyregexp.New(
		`^  (%[\w.]+) = shufflevector (<\d+ x \w+>) (%[\w.]+), (<\d+ x \w+>) ` + vectorPattern +
			`, <(\d+) x i32> (<.*>|zeroinitializer|poison|undef)(, ![a-z].*)?$`)
	vectorStoreRE = lazyregexp.New(
		`^  store (volatile )?(<\d+ x \w+>) (%[\w.]+), ` + pointerPattern)
)

// accessComponents replaces the sequences in all functions.
func accessComponents(m *irModule) {
	for _, f := range m.funcs {
		uses := countUses(f.body)
		var out []string
		for i := 0; i < len(f.body); i++ {
			lines, used := componentAccess(f.body[i:], uses, len(out))
			if used == 0 {
				out = append(out, f.body[i])
				continue
			}
			out = append(out, lines...)
			i += used - 1
		}
		f.body = out
	}
}

// valueRE matches a value.
var valueRE = lazyregexp.New(`%[\w.]+`)

// countUses returns how often each value occurs, its definition included.
func countUses(body []string) map[string]int {
	uses := make(map[string]int)
	for _, line := range body {
		for _, v := range valueRE.FindAllString(line, -1) {
			uses[v]++
		}
	}
	return uses
}

// vectorLoad is a load of a complete vector.
type vectorLoad struct {
	result, volatile, elem, ptrType, ptr, attach string // parts of the text
	n                                            int    // components
	size                                         int64  // bytes of a component
}

// parseVectorLoad parses a line; nil if it is not a load of a vector.
func parseVectorLoad(line string) *vectorLoad {
	s := vectorLoadRE.FindStringSubmatch(line)
	if s == nil {
		return nil
	}
	v := &vectorLoad{result: s[1], volatile: s[2], elem: s[5], ptrType: s[6], ptr: s[7],
		attach: dbgOnly(s[9])}
	v.n, _ = strconv.Atoi(s[4])
	v.size = scalarSize(v.elem)
	return v
}

// dbgOnly returns the debug location among attachments.
func dbgOnly(attach string) string { return dbgRE.FindString(attach) }

// component emits the computation of the address of a component, and returns the address as a typed
// operand.
func (v *vectorLoad) component(out *[]string, name, index string) string {
	add := func(format string, args ...any) {
		*out = append(*out, "  "+fmt.Sprintf(format, args...)+v.attach)
	}
	base, typ := v.ptr, v.ptrType
	if !strings.HasPrefix(typ, "ptr") { // LLVM 14: a typed pointer
		scalar := v.elem + typ[strings.IndexByte(typ, '>')+1:]
		add("%s.vec = bitcast %s %s to %s", name, typ, base, scalar)
		base, typ = name+".vec", scalar
	}
	add("%s.at = getelementptr inbounds %s, %s %s, %s", name, v.elem, typ, base, index)
	return typ + " " + name + ".at"
}

// componentAccess looks for a sequence at the start of body. It returns the lines that replace it,
// and the number of lines it has; 0 if there is none. id makes new names unique. A vector that is
// used more than once, or stored to another address, is not part of such a sequence.
func componentAccess(body []string, uses map[string]int, id int) (out []string, used int) {
	v := parseVectorLoad(body[0])
	if v == nil || v.size == 0 || len(body) < 2 {
		return nil, 0
	}
	if uses[v.result] == 1 && v.overwritten(body) {
		return nil, 1
	}
	if uses[v.result] != 2 {
		return nil, 0
	}
	name := fmt.Sprintf("%%heddle.c%d", id)
	if s := extractRE.FindStringSubmatch(body[1]); s != nil && s[3] == v.result {
		at := v.component(&out, name, s[4]+" "+s[5])
		return append(out, fmt.Sprintf("  %s = load %s%s, %s, align %d%s", s[1], v.volatile, v.elem, at,
			v.size, v.attach)), 2
	}
	if s := shuffleRE.FindStringSubmatch(body[1]); s != nil && s[3] == v.result && v.selects(s) {
		return v.readSwizzle(name, s), 2
	}
	if s := insertRE.FindStringSubmatch(body[1]); s != nil && s[3] == v.result && len(body) > 2 {
		st := vectorStoreRE.FindStringSubmatch(body[2])
		if st == nil || st[3] != s[1] || st[5] != v.ptr || uses[s[1]] != 2 {
			return nil, 0
		}
		at := v.component(&out, name, s[6]+" "+s[7])
		return append(out, fmt.Sprintf("  store %s%s %s, %s, align %d%s", st[1], v.elem, s[5], at, v.size,
			dbgOnly(st[7]))), 3
	}
	return v.writeSwizzle(name, body, uses)
}

// overwritten reports whether `v.wzyx = e` follows, which names all components: clang loads the vector
// and does not use it.
func (v *vectorLoad) overwritten(body []string) bool {
	if len(body) < 3 || v.volatile != "" {
		return false
	}
	s := shuffleRE.FindStringSubmatch(body[1])
	st := vectorStoreRE.FindStringSubmatch(body[2])
	return s != nil && st != nil && st[3] == s[1] && st[5] == v.ptr
}

// shuffleMask parses the mask of a shufflevector with n components; -1 means that a component does
// not matter.
func shuffleMask(text string, n int) []int {
	mask := make([]int, n)
	if text == "zeroinitializer" {
		return mask
	}
	for i := range mask {
		mask[i] = -1
	}
	if !strings.HasPrefix(text, "<") {
		return mask
	}
	for i, e := range splitTop(text[1 : len(text)-1]) {
		if k, err := strconv.Atoi(strings.TrimPrefix(e, "i32 ")); err == nil && i < n {
			mask[i] = k
		}
	}
	return mask
}

// selects reports whether a shuffle s of the loaded vector selects components of that vector alone:
// the other vector is a value that `v.zw = e` inserts.
func (v *vectorLoad) selects(s []string) bool {
	n, _ := strconv.Atoi(s[6])
	return !slices.ContainsFunc(shuffleMask(s[7], n), func(k int) bool { return k >= v.n })
}

// readSwizzle returns scalar loads of the components that a shuffle s of the loaded vector selects.
func (v *vectorLoad) readSwizzle(name string, s []string) []string {
	var out []string
	n, _ := strconv.Atoi(s[6])
	value := "poison"
	typ := fmt.Sprintf("<%d x %s>", n, v.elem)
	loaded := make(map[int]string)
	mask := shuffleMask(s[7], n)
	if len(mask) > 0 && !anyOf(mask) {
		return []string{fmt.Sprintf("  %s = shufflevector %s poison, %s poison, <%d x i32> %s%s", s[1],
			s[2], s[2], n, s[7], v.attach)}
	}
	last := 0
	for i, k := range mask {
		if k >= 0 {
			last = i
		}
	}
	for i, k := range mask {
		if k < 0 {
			continue
		}
		if loaded[k] == "" {
			one := fmt.Sprintf("%s.%d", name, k)
			at := v.component(&out, one, fmt.Sprintf("i64 %d", k))
			out = append(out, fmt.Sprintf("  %s = load %s%s, %s, align %d%s", one, v.volatile, v.elem, at,
				v.size, v.attach))
			loaded[k] = one
		}
		to := fmt.Sprintf("%s.v%d", name, i)
		if i == last {
			to = s[1]
		}
		out = append(out, fmt.Sprintf("  %s = insertelement %s %s, %s %s, i64 %d%s", to, typ, value,
			v.elem, loaded[k], i, v.attach))
		value = to
	}
	return out
}

// anyOf reports whether a mask selects any component.
func anyOf(mask []int) bool {
	for _, k := range mask {
		if k >= 0 {
			return true
		}
	}
	return false
}

// writeSwizzle returns scalar stores to the components that `v.zw = e` names. In clang's text that
// is the loaded vector, e widened to its length, a shuffle of the two, and a store.
func (v *vectorLoad) writeSwizzle(name string, body []string, uses map[string]int) (out []string,
	used int) {
	i := 1
	var widen string
	first := shuffleRE.FindStringSubmatch(body[1])
	if first != nil && first[3] != v.result && len(body) > 2 { // e has fewer components
		widen = body[1]
		i = 2
	}
	if i+1 >= len(body) {
		return nil, 0
	}
	s := shuffleRE.FindStringSubmatch(body[i])
	st := vectorStoreRE.FindStringSubmatch(body[i+1])
	if s == nil || st == nil || s[3] != v.result || s[5] == v.result || st[3] != s[1] ||
		st[5] != v.ptr || uses[s[1]] != 2 {
		return nil, 0
	}
	if widen != "" {
		out = append(out, widen)
	}
	n, _ := strconv.Atoi(s[6])
	for c, k := range shuffleMask(s[7], n) {
		if k == c || k < 0 {
			continue
		}
		one := fmt.Sprintf("%s.%d", name, c)
		if k < v.n {
			return nil, 0 // a component moves within the vector: not an assignment to components
		}
		out = append(out, fmt.Sprintf("  %s = extractelement %s %s, i64 %d%s", one, s[4], s[5], k-v.n,
			v.attach))
		at := v.component(&out, one, fmt.Sprintf("i64 %d", c))
		out = append(out, fmt.Sprintf("  store %s%s %s, %s, align %d%s", st[1], v.elem, one, at, v.size,
			dbgOnly(st[7])))
	}
	return out, i + 2
}
