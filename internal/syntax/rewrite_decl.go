package syntax

import "strings"

// declared returns the text of an item of a run. If the item declares variables that are used after
// the run, it writes the declarations before the run and returns assignments of the initial values.
// done is the index of the last item of the run.
func (l *list) declared(p piecer, text string, done int) string {
	w := l.w
	it := l.items[p.index]
	if it.kind != "DeclStmt" {
		return text
	}
	later := false
	for _, other := range l.items[done+1:] {
		for _, v := range it.kids {
			later = later || w.uses(other.node, v)
		}
	}
	if !later {
		return text
	}
	var inits []string
	var decls []string
	for i, v := range it.kids {
		if v.kind != "VarDecl" { // the declaration of a type executes nothing
			l.before(it, text)
			return ""
		}
		init, has := l.initializer(it, i)
		if !has {
			continue
		}
		typ, ok := w.plainType(v.typ)
		if !ok {
			w.fail(it.from, "%s of type %s is used on both sides of a barrier and cannot be declared "+
				"without its initial value", v.name, v.typ)
		}
		zero := ""
		if isArithmetic(typ) {
			zero = " = 0"
		}
		decls = append(decls, typ+spaced(typ)+v.name+zero+";")
		inits = append(inits, v.name+" = "+init+";")
	}
	if len(inits) == 0 {
		l.before(it, text)
		return ""
	}
	if len(inits) < len(it.kids) {
		w.fail(it.from, "several variables are declared together before a barrier that divides their "+
			"block")
	}
	l.unique(it)
	for _, d := range decls {
		l.line(d)
	}
	lead, _, tail := l.parts(p.index)
	return lead + strings.Join(inits, " ") + tail
}

// before writes a complete declaration before the run.
func (l *list) before(it item, text string) {
	l.unique(it)
	l.lines(text, l.ind)
}

// unique fails if a variable cannot move to the enclosing list because the function declares its
// name twice.
func (l *list) unique(it item) {
	for _, v := range it.kids {
		if l.flat && l.w.declared[v.name] > 1 {
			l.w.fail(it.from, "%s is used on both sides of a barrier; another variable has the same name",
				v.name)
		}
	}
}

// uses reports whether a variable is used below n.
func (w *rewriter) uses(n, v *node) bool {
	return w.any(n, func(k *node) bool {
		return k.target != "" && k.target == v.id ||
			v.kind != "VarDecl" && v.name != ""
	})
}

// initializer returns the text of the initial value of the i-th variable of a declaration, and
// whether it has one. Shared variables and arrays without initializer have none.
func (l *list) initializer(it item, i int) (string, bool) {
	w := l.w
	v := it.kids[i]
	t := w.b.text
	if w.any(v, func(k *node) bool {
		return k.kind == "CUDASharedAttr" ||
			k.kind == "OpenCLLocalAttr"
	}) {
		return "", false
	}
	if !w.b.plain(v.at) || !w.b.here(v.end) {
		w.fail(it.from, "a declaration before a barrier that divides its block is not plain text (a "+
			"macro produces it)")
	}
	at := t.skipBlank(v.at.offset + v.at.size)
	end := v.end.offset + v.end.size
	if v.end.macro {
		end = t.behindArguments(end)
	}
	if at >= end {
		return "", false
	}
	value := strings.TrimSpace(string(t[min(at+1, end):end]))
	switch {
	case t[at] == '[' && strings.IndexByte(string(t[at:end]), '=') < 0 &&
		strings.IndexByte(string(t[at:end]), '{') < 0:
		return "", false
	case t[at] == '=' && !strings.HasPrefix(value, "{") && value != "":
		return value, true
	}
	w.fail(it.from, "%s is used on both sides of a barrier, and its initializer is not a single "+
		"expression", v.name)
	return "", false
}

// plainType returns the type for a declaration without initializer, and whether there is one:
// references, arrays, lambdas and deduced types have none.
func (w *rewriter) plainType(typ string) (string, bool) {
	typ = strings.TrimSuffix(typ, "const")
	if !strings.Contains(typ, "*") {
		for strings.HasPrefix(typ, "const ") {
			typ = strings.TrimPrefix(typ, "const ")
		}
	}
	typ = strings.ReplaceAll(strings.TrimSpace(typ), "__attribute__", "\x00")
	if typ == "" || strings.ContainsAny(typ, "&[({\x00") || strings.HasPrefix(typ, "auto") ||
		strings.Contains(typ, "lambda") || strings.Contains(typ, "dependent") {
		return "", false
	}
	if w.b.openCL && strings.HasPrefix(typ, "__private ") {
		typ = strings.TrimPrefix(typ, "__private ")
	}
	return typ, true
}

// isArithmetic reports whether a variable of a type can be initialized with 0, by the type's name.
func isArithmetic(typ string) bool {
	if strings.HasSuffix(typ, "*") {
		return true
	}
	for word := range strings.FieldsSeq(typ) {
		switch word {
		case "int", "unsigned", "signed", "long", "short", "char", "bool", "float", "double", "half",
			"uint", "uchar", "ushort", "ulong", "size_t", "ptrdiff_t",
			"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
			"volatile":
		default:
			return false
		}
	}
	return true
}

// spaced returns the separator between a type and a name.
func spaced(typ string) string {
	if strings.HasSuffix(typ, "*") {
		return ""
	}
	return " "
}
