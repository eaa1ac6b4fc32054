package form

import (
	"fmt"
	"strings"

	"heddle/internal/ir"
)

// Predicated prints π: the program of one thread, in the style of figure 5 of the paper.
func (p *Program) Predicated() string {
	return (&printer{p: p, copies: []string{""}}).program("predicated form, one thread")
}

// Lockstep prints φ for two threads, in the style of figure 7: private registers and v_active
// twice, with $1 and $2; uniform registers once; what is read from shared memory is havoc; accesses
// are logged, and barriers are assertions.
func (p *Program) Lockstep() string {
	return (&printer{p: p, copies: []string{"$1",
		"$2"}}).program("lock-step form, two threads of a block")
}

// printer writes one of the forms: copies are the suffixes of what is private, one for each thread.
type printer struct {
	strings.Builder
	p      *Program
	copies []string
	block  *Block
}

func (w *printer) line(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }

func (w *printer) program(title string) string {
	fmt.Fprintf(w, "kernel %s: %s\norder:", w.p.Func.Demangled, title)
	for _, b := range w.p.Blocks {
		w.WriteString(" " + b.Name)
	}
	w.WriteString(" End\n")
	for i, b := range w.p.Blocks {
		w.block = b
		fmt.Fprintf(w, "%s:\n", b.Name)
		if i == 0 {
			w.each("active%s := %s", func(c string) []any { return []any{c, b.Name} })
		}
		for _, in := range b.Body {
			w.statement(in)
		}
		w.choose(b)
		w.loops(i, b)
	}
	return w.String()
}

// each prints a line for every copy.
func (w *printer) each(format string, args func(copy string) []any) {
	for _, c := range w.copies {
		w.line(format, args(c)...)
	}
}

func (w *printer) two() bool { return len(w.copies) > 1 }

// reg is the name of a register in a copy of the thread.
func (w *printer) reg(r ir.RegID, c string) string {
	name := w.p.Func.Regs[r].Name
	if c == "" || w.p.Uniform.Reg(r) {
		return name
	}
	return name + c
}

// enabled is the condition under which a statement of the current block has an effect.
func (w *printer) enabled(in *ir.Instr, c string) string {
	s := fmt.Sprintf("active%s = %s", c, w.block.Name)
	if in.Guard == ir.NoReg {
		return s
	}
	return s + " && " + w.literal(in.Guard, in.Neg, c)
}

// literal is a predicate or its negation, in copy c of the thread.
func (w *printer) literal(p ir.RegID, neg bool, c string) string {
	if neg {
		return "!" + w.reg(p, c)
	}
	return w.reg(p, c)
}

// text returns the destinations and the rest of an instruction in a copy.
func (w *printer) text(in *ir.Instr, c string) (dst, rest string) {
	dst, rest = w.p.Func.FormatParts(in, func(r ir.RegID) string { return w.reg(r, c) })
	if len(in.Dst) > 1 {
		dst = "{" + dst + "}"
	}
	return dst, rest
}

// statement prints a row of Table 1, or of Table 3a.
func (w *printer) statement(in *ir.Instr) {
	switch KindOf(in) {
	case Assign:
		w.assign(in, "")
	case Havoc:
		w.assign(in, "*")
	case Read, Update, Write:
		w.access(in)
	case Barrier:
		w.barrier(in)
	case Fail:
		w.each("assert (%s) => false", func(c string) []any { return []any{w.enabled(in, c)} })
	case Order:
		w.each("if %s: %s", func(c string) []any {
			_, rest := w.text(in, c)
			return []any{w.enabled(in, c), rest}
		})
	}
}

// assign prints an assignment of private registers: of what the instruction computes, or of value
// if it is given. What is uniform is assigned once.
func (w *printer) assign(in *ir.Instr, value string) {
	if len(in.Dst) == 0 {
		return
	}
	once := true
	eachReg(in.Dst, func(r ir.RegID) { once = once && w.p.Uniform.Reg(r) })
	for _, c := range w.copies {
		dst, rest := w.text(in, c)
		if value != "" {
			rest = value
		}
		w.line("%s := %s ? %s : %s", dst, w.enabled(in, c), rest, dst)
		if once {
			break
		}
	}
}

// access prints an access to memory that threads share. In φ it is logged and what it reads is
// havoc.
func (w *printer) access(in *ir.Instr) {
	if !w.two() {
		if len(in.Dst) > 0 {
			w.assign(in, "")
		} else {
			_, rest := w.text(in, "")
			w.line("if %s: %s", w.enabled(in, ""), rest)
		}
		return
	}
	verb := map[Kind]string{Read: "read", Write: "write", Update: "update"}[KindOf(in)]
	w.each("log %s%s if %s: %s", func(c string) []any {
		_, rest := w.text(in, c)
		return []any{verb, c, w.enabled(in, c), rest}
	})
	w.assign(in, "*")
}

// barrier prints the assertion that all threads are at the barrier if one is, and that they mean
// the same one.
func (w *printer) barrier(in *ir.Instr) {
	_, rest := w.text(in, "")
	if !w.two() {
		w.line("barrier (%s)  // %s", w.enabled(in, ""), rest)
		w.assign(in, "")
		return
	}
	var en []string
	for _, c := range w.copies {
		en = append(en, "("+w.enabled(in, c)+")")
	}
	then := strings.Join(en, " && ")
	id, count := BarrierParts(in)
	if id.Kind == ir.Register && !w.p.Uniform.Reg(id.Reg) {
		then += fmt.Sprintf(" && %s = %s", w.reg(id.Reg, w.copies[0]), w.reg(id.Reg, w.copies[1]))
	}
	switch count.Kind {
	case ir.Imm:
		then += fmt.Sprintf(" && %d = threads", count.Val)
	case ir.Register:
		for _, c := range w.copies {
			then += fmt.Sprintf(" && %s = threads", w.reg(count.Reg, c))
			if w.p.Uniform.Reg(count.Reg) {
				break
			}
		}
	}
	w.line("sync (%s) => (%s)  // %s", strings.Join(en, " || "), then, rest)
	w.assign(in, "*")
}

// choose prints the assignments of v_next and v_active.
func (w *printer) choose(b *Block) {
	for _, c := range w.copies {
		w.line("next%s := %s", c, w.arms(b.Arms, c))
	}
	w.each("active%s := active%s = %s ? next%s : active%s",
		func(c string) []any { return []any{c, c, b.Name, c, c} })
}

// arms is the value of v_next: a chain of conditional expressions over the arms.
func (w *printer) arms(arms []Arm, c string) string {
	a := arms[0]
	to := w.name(a.To)
	if len(arms) == 1 {
		return to
	}
	var conds []string
	if a.Guard != ir.NoReg {
		conds = append(conds, w.literal(a.Guard, a.Neg, c))
	}
	if a.Index >= 0 {
		if a.By.Kind == ir.Register {
			conds = append(conds, fmt.Sprintf("%s = %d", w.reg(a.By.Reg, c), a.Index))
		} else {
			conds = append(conds, fmt.Sprintf("%d = %d", a.By.Val, a.Index))
		}
	}
	if len(conds) == 0 {
		return to
	}
	return fmt.Sprintf("%s ? %s : %s", strings.Join(conds, " && "), to, w.arms(arms[1:], c))
}

// name is a block's name in the output.
func (w *printer) name(b ir.BlockID) string {
	if b == End {
		return "End"
	}
	return w.p.Block(b).Name
}

// loops prints the goto at the end of a block, and the tests of the loops whose last block it is
// (Table 2, below).
func (w *printer) loops(i int, b *Block) {
	next := "End"
	if i+1 < len(w.p.Blocks) {
		next = w.p.Blocks[i+1].Name
	}
	for _, l := range b.Ends {
		head := w.name(l.Header)
		w.line("goto %s_back, %s_exit", head, head)
		var back, exit []string
		for _, c := range w.copies {
			back = append(back, fmt.Sprintf("active%s = %s", c, head))
			exit = append(exit, fmt.Sprintf("active%s != %s", c, head))
		}
		fmt.Fprintf(w, "%s_back:\n", head)
		w.line("assume %s", strings.Join(back, " || "))
		w.line("goto %s", head)
		fmt.Fprintf(w, "%s_exit:\n", head)
		w.line("assume %s", strings.Join(exit, " && "))
	}
	w.line("goto %s", next)
}
