package fix

import (
	"regexp"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/repair"
	"heddle/internal/syntax"
)

// The steps of a change of the source that are about mbarriers.

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
