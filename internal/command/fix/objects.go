package fix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/repair"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// Waits, arrivals and announcements in the source. In the PTX they name registers. In the source an
// object is named by what a call or an asm statement is given that is about it: &full of
// wait(&full, i & 1). What is added is a copy of a statement of the function that does the same with
// another object or number, a call of a function that does it, or an asm statement.
//
// Which argument is the object follows from the asm statement in the function that is called, or, of
// functions of libraries, from their names.

// spoken is a call or an asm statement about an mbarrier.
type spoken struct {
	use    *syntax.Use
	object *syntax.Given
	member bool // object is that of a member call
	value  *syntax.Given
	size   *syntax.Given // of a bulk copy
}

// roles are the numbers of the operands of an asm statement that are an mbarrier, a parity, bytes or
// a count, and the size of a copy; -1 without.
type roles struct{ object, value, size int }

// What asm statements say, as the instruction in them: of an operation on an mbarrier, the address
// and the number behind it, and of a bulk copy, the size and the address that comes last.
var (
	objectOperand = regexp.MustCompile(
		`mbarrier\.[\w.:]+\s+(?:[\w%|]+\s*,\s*)?\[%(\d+)\](?:\s*,\s*%(\d+))?`)
	copyOperands = regexp.MustCompile(
		`cp\.(?:reduce\.)?async\.bulk[\w.:]*mbarrier::[\w.:]+\s+\[%\d+\]\s*,\s*\[[^\]]*\](?:\s*,\s*%(\d+))?\s*,\s*\[%(\d+)\]`)
)

// rolesOf reads an asm statement.
func rolesOf(text string) (roles, bool) {
	number := func(text string) int {
		n := -1
		fmt.Sscan(text, &n)
		return n
	}
	if m := copyOperands.FindStringSubmatch(text); m != nil {
		return roles{object: number(m[2]), value: -1, size: number(m[1])}, true
	}
	if m := objectOperand.FindStringSubmatch(text); m != nil {
		return roles{object: number(m[1]), value: number(m[2]), size: -1}, true
	}
	return roles{}, false
}

// library has the functions of libraries, by the last part of their names: those of CuTe, whose
// first argument is the object, and the members of its classes and of cuda::barrier. A function of
// cuda::ptx has the object as its first argument that is a pointer, the value behind it; a copy has
// it as the last one, the size before it.
var library = map[string]struct{ pointer, member, copies bool }{
	"cp_async_bulk":            {copies: true},
	"mbarrier_try_wait_parity": {pointer: true}, "mbarrier_test_wait_parity": {pointer: true},
	"mbarrier_arrive": {pointer: true}, "mbarrier_arrive_expect_tx": {pointer: true},
	"mbarrier_expect_tx": {pointer: true}, "mbarrier_init": {pointer: true},
	"wait_barrier": {}, "arrive_barrier": {}, "set_barrier_transaction_bytes": {}, "initialize_barrier": {},
	"wait": {member: true}, "arrive": {member: true}, "arrive_and_expect_tx": {member: true},
	"expect_transaction": {member: true}, "init": {member: true}, "wait_parity": {member: true},
}

// spoken returns what an instruction comes from in a function of the unit; nil if that says nothing
// about an mbarrier.
func (s *sourceFixer) spoken(in *ir.Instr, fn *syntax.Func) *spoken {
	if in == nil {
		return nil
	}
	var inner *source.Frame
	fr := in.Loc
	for ; fr != nil && s.unit.FuncOf(fr.Pos) != fn; fr = fr.Parent {
		inner = fr
	}
	if fr == nil {
		return nil
	}
	off, ok := fn.File.Offset(fr.Pos)
	if !ok {
		return nil
	}
	use := s.unit.UseAt(fn, off)
	switch {
	case use == nil:
		return nil
	case use.Asm:
		r, ok := rolesOf(fn.Text(use.Range))
		if !ok {
			return nil
		}
		at := func(n int) *syntax.Given { return given(use, n) }
		return known(&spoken{use: use, object: at(r.object), value: at(r.value), size: at(r.size)})
	case inner != nil && s.unit.FuncOf(inner.Pos) != nil:
		if sp := s.ofFunction(use, s.unit.FuncOf(inner.Pos)); sp != nil {
			return sp
		}
	}
	return ofLibrary(use)
}

func known(sp *spoken) *spoken {
	if sp.object == nil {
		return nil
	}
	return sp
}

func given(use *syntax.Use, n int) *syntax.Given {
	if n < 0 || n >= len(use.Given) {
		return nil
	}
	return &use.Given[n]
}

// ofFunction reads a call of a function with one asm statement: its arguments are what the
// parameters are for which the asm statement is given.
func (s *sourceFixer) ofFunction(use *syntax.Use, callee *syntax.Func) *spoken {
	asm := s.unit.AsmOf(callee)
	if asm == nil {
		return nil
	}
	r, ok := rolesOf(callee.Text(asm.Range))
	if !ok {
		return nil
	}
	sp := &spoken{use: use}
	argument := func(n int) *syntax.Given {
		if g := given(asm, n); g != nil {
			return given(use, parameterIn(callee, g.Text))
		}
		return nil
	}
	sp.object, sp.value, sp.size = argument(r.object), argument(r.value), argument(r.size)
	if sp.object == nil && use.Object != nil { // a member of the object
		sp.object, sp.member = use.Object, true
	}
	return known(sp)
}

var word = regexp.MustCompile(`[A-Za-z_]\w*`)

// parameterIn returns the number of the parameter that an expression is about; -1 if there is none.
func parameterIn(fn *syntax.Func, text string) int {
	params, _ := fn.Params()
	for _, w := range word.FindAllString(text, -1) {
		if i := slices.IndexFunc(params, func(p syntax.Param) bool { return p.Name == w }); i >= 0 {
			return i
		}
	}
	return -1
}

// ofLibrary reads a call of a function of a library.
func ofLibrary(use *syntax.Use) *spoken {
	names := word.FindAllString(strings.SplitN(use.Callee, "<", 2)[0], -1)
	if len(names) == 0 {
		return nil
	}
	f, ok := library[names[len(names)-1]]
	sp := &spoken{use: use}
	switch {
	case !ok || f.member && use.Object == nil:
		return nil
	case f.copies:
		for i := range use.Given {
			if use.Given[i].Pointer {
				sp.object, sp.size = &use.Given[i], given(use, i-1)
			}
		}
	case f.member:
		sp.object, sp.member, sp.value = use.Object, true, given(use, 0)
	default:
		i := 0
		if f.pointer {
			i = slices.IndexFunc(use.Given, func(g syntax.Given) bool { return g.Pointer })
		}
		sp.object, sp.value = given(use, i), given(use, i+1)
	}
	return known(sp)
}

// shared is the address of an object in shared memory, as a number.
func shared(g *syntax.Given, member bool) string {
	switch {
	case g.Number && !member:
		return g.Text
	case g.Pointer:
		return "(unsigned)__cvta_generic_to_shared(" + g.Text + ")"
	}
	return "(unsigned)__cvta_generic_to_shared(&" + operand(g.Text) + ")"
}

// operand puts an expression in parentheses unless it needs none.
func operand(text string) string {
	if simple.MatchString(text) {
		return text
	}
	return "(" + text + ")"
}

var simple = regexp.MustCompile(`^[\w.]+(?:\[[^\[\]]*\])*$`)

// like returns the text of an object in the form of another one: an address, or what has it.
func like(g, as *syntax.Given, member bool) string {
	address, bare := strings.CutPrefix(g.Text, "&")
	switch {
	case as.Pointer && !member && !g.Pointer && !g.Number:
		return "&" + operand(g.Text)
	case (member || !as.Pointer && !as.Number) && bare:
		return address
	}
	return g.Text
}

// objectTexts are the statements that do in a function what an instruction of a plan does, the most
// natural first.
func (s *sourceFixer) objectTexts(k *ir.Func, fn *syntax.Func, use *repair.Tracked) []string {
	byIndex := instructions(k)
	var out []string
	add := func(text string) {
		for _, t := range s.guarded(byIndex, fn, use, text) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	var objects []*spoken
	for _, in := range use.Names {
		sp := s.spoken(byIndex[in.Index], fn)
		same := func(x *spoken) bool { return x.object.Text == sp.object.Text }
		if sp != nil && !slices.ContainsFunc(objects, same) {
			objects = append(objects, sp)
		}
	}
	alike, values := s.alike(k, fn, use), s.values(byIndex, fn, use)
	for _, form := range []func(o *spoken, v string) []string{
		func(o *spoken, v string) (texts []string) {
			for _, t := range alike {
				texts = append(texts, t.with(fn, o, v))
			}
			return texts
		},
		func(o *spoken, v string) (texts []string) {
			for _, f := range s.unit.Funcs {
				texts = append(texts, s.call(f, fn, use, o, v))
			}
			return texts
		},
		func(o *spoken, v string) []string { return []string{asmText(use, o, v)} },
	} {
		for _, o := range objects {
			for _, v := range values {
				for _, t := range form(o, v) {
					add(t)
				}
			}
		}
	}
	return out
}

// values are the texts of the parity, the bytes or the count; one empty text if there is none.
func (s *sourceFixer) values(byIndex map[int]*ir.Instr, fn *syntax.Func, use *repair.Tracked) []string {
	switch use.Kind {
	case repair.WaitFor:
		if v := s.parity(byIndex, fn, use.Parity); v != "" {
			return []string{v}
		}
		return nil
	case repair.Announce:
		var out []string
		for _, in := range use.Names {
			if sp := s.spoken(byIndex[in.Index], fn); sp != nil && sp.size != nil {
				out = append(out, sp.size.Text)
			}
		}
		return append(slices.Compact(out), fmt.Sprint(use.Bytes))
	case repair.ArriveAt:
		if use.Count > 0 {
			return []string{fmt.Sprint(use.Count)}
		}
	}
	return []string{""}
}

// parity is the text of a parity in a function; empty if it has none.
func (s *sourceFixer) parity(byIndex map[int]*ir.Instr, fn *syntax.Func, p *repair.Parity) string {
	text := ""
	switch {
	case p == nil:
		return ""
	case p.Of != nil:
		if sp := s.spoken(byIndex[p.Of.Index], fn); sp != nil && sp.value != nil {
			text = sp.value.Text
		}
		if text != "" && p.Inverse {
			text = inverse(text)
		}
		return text
	case p.Counter == nil:
		return fmt.Sprint(p.Number)
	}
	in := byIndex[p.Counter.Index]
	for fr := in.Loc; fr != nil; fr = fr.Parent {
		if s.unit.FuncOf(fr.Pos) != fn {
			continue
		}
		if off, ok := fn.File.Offset(fr.Pos); ok {
			text = s.unit.VariableAt(fn, off)
		}
		break
	}
	if text == "" {
		return ""
	}
	if p.Counter.Operation() != isa.ExclusiveOr {
		if p.Shift > 0 {
			text += fmt.Sprint(" >> ", p.Shift)
		}
		text += " & 1"
	}
	if p.Inverse {
		text = inverse(text)
	}
	return text
}

// inverse is the text of the other parity.
func inverse(text string) string {
	if was, ok := strings.CutSuffix(text, " ^ 1"); ok && !strings.ContainsAny(text, "|?,") {
		return was
	}
	return operand(text) + " ^ 1"
}

// guarded puts a statement under the condition of the predicate of its instruction. The predicate
// may be the opposite of the condition, so that both are tried.
func (s *sourceFixer) guarded(byIndex map[int]*ir.Instr, fn *syntax.Func, use *repair.Tracked,
	text string) []string {
	if text == "" || !use.Guarded {
		return []string{text}[:min(len(text), 1)]
	}
	if use.Guard == nil {
		return nil
	}
	for fr := byIndex[use.Guard.Index].Loc; fr != nil; fr = fr.Parent {
		off, ok := fn.File.Offset(fr.Pos)
		if s.unit.FuncOf(fr.Pos) != fn || !ok {
			continue
		}
		if c := s.unit.ConditionAt(fn, off); c != "" {
			return []string{"if (" + c + ") " + text, "if (!(" + c + ")) " + text}
		}
	}
	return nil
}

// alike are the statements of a function that do what an instruction of a plan does, with some
// object.
func (s *sourceFixer) alike(k *ir.Func, fn *syntax.Func, use *repair.Tracked) []*spoken {
	var out []*spoken
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if !does(in, use) {
				continue
			}
			sp := s.spoken(in, fn)
			if sp == nil || strings.Count(fn.Text(sp.use.Statement), ";") > 2 {
				continue
			}
			same := func(x *spoken) bool { return x.use.Range == sp.use.Range }
			if !slices.ContainsFunc(out, same) {
				out = append(out, sp)
			}
		}
	}
	return out
}

// does reports whether an instruction does what one of a plan does.
func does(in *ir.Instr, use *repair.Tracked) bool {
	b, ok := in.Barrier()
	if !ok || b.Object != isa.MBarrier {
		return false
	}
	switch use.Kind {
	case repair.WaitFor:
		return b.Kind == isa.BarrierTest && b.Parity
	case repair.ArriveAt:
		return b.Kind == isa.BarrierArrive && b.Bytes < 0 && (b.Count != nil) == (use.Count > 0)
	}
	return use.Arrives && b.Kind == isa.BarrierArrive && b.Bytes >= 0 ||
		!use.Arrives && b.Kind == isa.BarrierExpect
}

// with returns the statement with another object and value; empty if it has none.
func (sp *spoken) with(fn *syntax.Func, o *spoken, value string) string {
	if (value != "") != (sp.value != nil) {
		return ""
	}
	var edits []replacement
	if o != nil {
		edits = append(edits, replacement{sp.object.Range, like(o.object, sp.object, sp.member)})
	}
	if value != "" {
		edits = append(edits, replacement{sp.value.Range, value})
	}
	return statementWith(fn, sp.use.Statement, edits)
}

// replacement is a new text for a range.
type replacement struct {
	at   syntax.Range
	text string
}

// statementWith returns the text of a statement with replacements in it.
func statementWith(fn *syntax.Func, statement syntax.Range, edits []replacement) string {
	slices.SortFunc(edits, func(a, b replacement) int { return a.at.From - b.at.From })
	var b strings.Builder
	at := statement.From
	for _, e := range edits {
		if e.at.From < at || e.at.To > statement.To {
			return ""
		}
		b.WriteString(fn.Text(syntax.Range{From: at, To: e.at.From}) + e.text)
		at = e.at.To
	}
	b.WriteString(fn.Text(syntax.Range{From: at, To: statement.To}))
	return b.String()
}

// call returns a call of a function of the file with one asm statement that does what an instruction
// of a plan does; empty if it does not, or has other parameters.
func (s *sourceFixer) call(f, in *syntax.Func, use *repair.Tracked, o *spoken, value string) string {
	asm := s.unit.AsmOf(f)
	if asm == nil || f.Kernel || f == in || o.member != f.Member {
		return ""
	}
	r, ok := rolesOf(f.Text(asm.Range))
	if !ok || r.size >= 0 || !strings.Contains(f.Text(asm.Range), use.Op+" ") {
		return ""
	}
	params, ok := f.Params()
	args := make([]string, len(params))
	put := func(n int, text string) bool {
		g := given(asm, n)
		if g == nil || text == "" && parameterIn(f, g.Text) < 0 {
			return text == ""
		}
		i := parameterIn(f, g.Text)
		if i < 0 || text == "" || args[i] != "" {
			return false
		}
		args[i] = text
		return true
	}
	object, name := o.object.Text, f.Name
	switch {
	case f.Member:
		object, name = "", receiver(in, o)+f.Name
	case f.Scope != "":
		name = f.Scope + "::" + f.Name
	}
	if !f.Member && !o.object.Pointer && !o.object.Number {
		object = "&" + operand(object)
	}
	if !ok || !put(r.object, object) || !put(r.value, value) || slices.Contains(args, "") {
		return ""
	}
	return name + "(" + strings.Join(args, ", ") + ");"
}

// receiver is the object of a member call with what is behind it there: "full[s]." or "full->".
func receiver(fn *syntax.Func, o *spoken) string {
	behind := fn.Text(syntax.Range{From: o.object.Range.To, To: o.use.Range.To})
	if strings.HasPrefix(strings.TrimSpace(behind), "->") {
		return o.object.Text + "->"
	}
	return o.object.Text + "."
}

// asmText is an asm statement that does what an instruction of a plan does; empty if its address has
// no such form.
func asmText(use *repair.Tracked, o *spoken, value string) string {
	if !strings.Contains(use.Op, ".shared") {
		return ""
	}
	address := shared(o.object, o.member)
	if use.Kind != repair.ArriveAt && strings.Trim(value, "0123456789") != "" {
		value = "(unsigned)" + operand(value)
	}
	switch use.Kind {
	case repair.WaitFor:
		return fmt.Sprintf("asm volatile(\"{ .reg .pred p; W: %s p, [%%0], %%1; @!p bra W; }\" "+
			"::\"r\"(%s), \"r\"(%s) : \"memory\");", use.Op, address, value)
	case repair.ArriveAt:
		if value != "" {
			value = ", " + value
		}
		return fmt.Sprintf("asm volatile(\"%s _, [%%0]%s;\" ::\"r\"(%s) : \"memory\");", use.Op, value,
			address)
	}
	state := ""
	if use.Arrives {
		state = "_, "
	}
	return fmt.Sprintf("asm volatile(\"%s %s[%%0], %%1;\" ::\"r\"(%s), \"r\"(%s) : \"memory\");",
		use.Op, state, address, value)
}

// objectPoint returns the steps that may express what a plan does with an mbarrier at a point: each
// statement at each place, the most natural first.
func (s *sourceFixer) objectPoint(k *ir.Func, p repair.Point, use *repair.Tracked) []step {
	places := s.point(k, p, asmStatement+`";`, false)
	texts := map[*syntax.Func][]string{}
	most := 0
	for _, st := range places {
		if _, ok := texts[st.fn]; !ok {
			texts[st.fn] = s.objectTexts(k, st.fn, use)
			most = max(most, len(texts[st.fn]))
		}
	}
	var out []step
	for n := range most {
		for _, st := range places {
			if n >= len(texts[st.fn]) {
				continue
			}
			st.object = true
			if st.insert != nil {
				at := *st.insert
				at.Text = texts[st.fn][n]
				st.insert = &at
			} else {
				st.replace = texts[st.fn][n]
			}
			out = appendNew(out, st)
		}
	}
	return out
}

// objectChange returns the step that gives a call or an asm statement about an mbarrier another
// parity or other bytes, in the outermost function that says them.
func (s *sourceFixer) objectChange(k *ir.Func, in *ir.Instr, use *repair.Tracked) (choices, error) {
	byIndex := instructions(k)
	var funcs []*syntax.Func
	for fr := in.Loc; fr != nil; fr = fr.Parent {
		if fn := s.unit.FuncOf(fr.Pos); fn != nil && fn.File == s.user {
			funcs = append(funcs, fn)
		}
	}
	var out choices
	for _, fn := range slices.Backward(funcs) {
		sp := s.spoken(in, fn)
		if sp == nil || sp.value == nil {
			continue
		}
		change := func(text string) {
			if text != "" {
				out = appendNew(out, step{fn: fn, drop: -1, split: -1, at: sp.use.Range.From,
					replace: text, object: true})
			}
		}
		switch {
		case use.Kind == repair.Announce && use.Bytes < 0:
			for _, t := range s.alike(k, fn, use) {
				change(t.with(fn, sp, sp.value.Text))
			}
			change(asmText(use, sp, sp.value.Text))
		default:
			for _, v := range s.values(byIndex, fn, use) {
				change(sp.with(fn, nil, v))
			}
		}
	}
	if len(out) == 0 {
		return nil, notInSourcef("%s is not in a call or an asm statement of the file whose operands "+
			"heddle recognizes", in.Text())
	}
	return out, nil
}

// asmChange returns the step for an instruction that becomes another one with the same operands, or
// one without operands, in the asm statement that it comes from.
func (s *sourceFixer) asmChange(in *ir.Instr, text string) (step, bool) {
	fn, off, err := s.place(in)
	if err != nil {
		return step{}, false
	}
	use := s.unit.UseAt(fn, off)
	if use == nil || !use.Asm {
		return step{}, false
	}
	was := fn.Text(use.Statement)
	op, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	old := regexp.MustCompile(regexp.QuoteMeta(in.Text()) + `\b`)
	if isStatement.MatchString(text) {
		op = strings.TrimSuffix(strings.TrimSpace(text), ";")
		old = regexp.MustCompile(regexp.QuoteMeta(in.Text()) + `\s+[%\w]+`)
	}
	if strings.HasPrefix(op, "@") || strings.HasPrefix(op, "{") || len(old.FindAllString(was, -1)) != 1 {
		return step{}, false
	}
	return step{fn: fn, drop: -1, split: -1, at: use.Range.From,
		replace: old.ReplaceAllLiteralString(was, op), object: true}, true
}
