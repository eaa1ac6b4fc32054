package lower

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// A local array or struct that is initialized with addresses of shared variables (`int *t[2] = {x,
// y};`) is a copy of a constant in global memory. PTX cannot express that initialiser, since the
// address of a shared variable is not known before the launch (PTX ISA 5.4.4). So the thread stores
// the addresses itself.

// sharedTableRE matches such a constant, with its name, and its type and value.
var sharedTableRE = lazyregexp.New(
	`^(@(?:[-\w.$]+|"[^"]*")) = (?:[\w()]+ )*(?:constant|global) (.*addrspace\(3\).*), align \d+$`)

// storeSharedTables replaces each copy of such a constant by a store of its value.
func storeSharedTables(m *irModule) {
	tables := map[string]string{} // type and value by name
	for _, line := range m.head {
		if s := sharedTableRE.FindStringSubmatch(line); s != nil {
			tables[s[1]] = s[2]
		}
	}
	if len(tables) == 0 {
		return
	}
	l := newLayouts(m.head)
	for _, f := range m.funcs {
		for i, line := range f.body {
			if store := storedTable(line, tables, l); store != "" {
				f.body[i] = store
			}
		}
	}
	m.head = slices.DeleteFunc(m.head, func(line string) bool {
		s := sharedTableRE.FindStringSubmatch(line)
		return s != nil && m.userOf(s[1]) == ""
	})
}

// storedTable returns the store that replaces a copy of a complete constant; "" for other lines.
func storedTable(line string, tables map[string]string, l *layouts) string {
	if !strings.Contains(line, "call void @llvm.memcpy.") {
		return ""
	}
	text, dbg := splitAttach(line)
	_, ops, _ := copyCall(text)
	if len(ops) != 4 || ops[3] != "i1 false" {
		return ""
	}
	dst, src := parseOperand(ops[0]), parseOperand(ops[1])
	value, ok := tables[src.name]
	if !ok || dst.typ != "ptr" {
		return ""
	}
	if _, size, _, ok := l.scalars(leadingType(value)); !ok || fmt.Sprintf("i64 %d", size) != ops[2] {
		return ""
	}
	store := fmt.Sprintf("  store %s, ptr %s, align %d", value, dst.name, dst.align)
	if dbg != "" {
		store += ", !dbg " + dbg
	}
	return store
}

// leadingType returns the type at the start of a typed value.
func leadingType(value string) string {
	if strings.ContainsAny(value[:1], "[{<") {
		_, after := bracketed(value)
		return strings.TrimSuffix(value, after)
	}
	typ, _, _ := strings.Cut(value, " ")
	return typ
}

// userOf returns an instruction that refers to a symbol "@x"; "" if none does.
func (m *irModule) userOf(symbol string) string {
	for _, f := range m.funcs {
		for _, line := range f.body {
			found := false
			references(line, func(name string) { found = found || name == strings.Trim(symbol[1:], `"`) })
			if found {
				return line
			}
		}
	}
	return ""
}

// checkSharedTables reports the use of such a constant that storeSharedTables could not replace.
func (b *build) checkSharedTables(m *irModule) error {
	for _, line := range m.head {
		s := sharedTableRE.FindStringSubmatch(line)
		if s == nil || m.userOf(s[1]) == "" {
			continue
		}
		no := &InputError{File: b.name, Reason: "unsupported: a constant contains addresses of " +
			"__shared__ variables, which are not known before the launch; let the kernel store them at " +
			"run time"}
		if _, dbg := splitAttach(m.userOf(s[1])); dbg != "" {
			if at := b.debugInfo(m).chain(dbg); len(at) > 0 {
				no.File = fmt.Sprintf("%s:%d:%d", at[0].file, at[0].line, at[0].col)
			}
		}
		return no
	}
	return nil
}
