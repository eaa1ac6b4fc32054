package fix

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lazyregexp"
	"heddle/internal/repair"
	"heddle/internal/syntax"
)

// The texts of statements about an mbarrier.

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

var simple = lazyregexp.New(`^[\w.]+(?:\[[^\[\]]*\])*$`)

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
// may be the opposite of the condition, so that both are tried. Whether a condition says which lanes
// execute it depends on the shape of the block, in which what it gives is examined.
func (s *sourceFixer) guarded(byIndex map[int]*ir.Instr, fn *syntax.Func, use *repair.Tracked,
	text string) []string {
	if text == "" || !use.Guarded {
		return []string{text}[:min(len(text), 1)]
	}
	switch {
	case use.Lanes == repair.FirstLane:
		return []string{"if (threadIdx.x % 32 == 0) " + text}
	case use.Lanes == repair.FirstThread:
		return []string{"if (threadIdx.x == 0) " + text,
			"if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) " + text}
	case use.Guard == nil:
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
