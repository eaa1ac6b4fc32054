package maxsat

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteSMT prints a problem for z3 (νZ: Bjørner, Phan and Fleckenstein, TACAS 2015): hard clauses
// by assert, soft ones by assert-soft. ReadSMT reads the answer.
func (p *Problem) WriteSMT(w io.Writer) error {
	b := bufio.NewWriter(w)
	for v := 1; v <= p.Vars; v++ {
		fmt.Fprintf(b, "(declare-const x%d Bool)\n", v)
	}
	for _, h := range p.Hard {
		fmt.Fprintf(b, "(assert %s)\n", clauseSMT(h))
	}
	for _, s := range p.Soft {
		fmt.Fprintf(b, "(assert-soft %s :weight %d)\n", clauseSMT(s.Clause), s.Weight)
	}
	b.WriteString("(check-sat)\n")
	for v := 1; v <= p.Vars; v++ {
		fmt.Fprintf(b, "(eval x%d)\n", v)
	}
	return b.Flush()
}

func clauseSMT(clause []Lit) string {
	b := strings.Builder{}
	b.WriteString("(or false")
	for _, l := range clause {
		if l < 0 {
			fmt.Fprintf(&b, " (not x%d)", -l)
		} else {
			fmt.Fprintf(&b, " x%d", l)
		}
	}
	b.WriteString(")")
	return b.String()
}

// ReadSMT reads the output of z3 for a problem that WriteSMT printed. The model is nil if there is
// none; otherwise it satisfies the hard clauses, and cost is its cost.
func (p *Problem) ReadSMT(r io.Reader) (m Model, cost int64, err error) {
	sc := bufio.NewScanner(r)
	line := func() string {
		sc.Scan()
		return strings.TrimSpace(sc.Text())
	}
	switch answer := line(); answer {
	case "unsat":
		return nil, 0, nil
	case "sat":
	default:
		return nil, 0, fmt.Errorf("maxsat: z3 answers %q, expected sat or unsat", answer)
	}
	m = make(Model, p.Vars+1)
	for v := 1; v <= p.Vars; v++ {
		switch value := line(); value {
		case "true":
			m[v] = true
		case "false", fmt.Sprintf("x%d", v): // the variable itself: both values will do
		default:
			return nil, 0, fmt.Errorf("maxsat: the solver says that x%d is %q", v, value)
		}
	}
	cost, ok := p.Cost(m)
	if !ok {
		return nil, 0, fmt.Errorf("maxsat: the solver's model breaks a hard clause")
	}
	return m, cost, nil
}
