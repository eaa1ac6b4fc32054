package proc

import (
	"context"
	"strconv"
	"strings"

	"heddle/internal/smt"
)

// inputs returns the variables and function applications in a query.
func inputs(c *smt.Context, asserts []smt.Term) []smt.Term {
	var out []smt.Term
	c.Visit(asserts, func(t smt.Term) {
		if op := c.Op(t); op == smt.OpVar || op == smt.OpApp {
			out = append(out, t)
		}
	})
	return out
}

// asked returns the terms for whose values model asks. The script must name them: the answer repeats
// what was asked for, and the text of a term without names can be exponentially long.
func asked(c *smt.Context, inputs []smt.Term) []smt.Term {
	var out []smt.Term
	for _, t := range inputs {
		out = append(append(out, t), c.Args(t)...)
	}
	return out
}

// model asks for the values of the variables and function applications of a satisfiable query.
// get-value avoids parsing function definitions, whose format differs between solvers.
func (p *process) model(
	ctx context.Context, c *smt.Context, asserts []smt.Term,
) (*smt.Model, error) {
	m := &smt.Model{Vars: map[string]uint64{}, Funcs: map[string]map[string]uint64{}}
	for _, t := range inputs(c, asserts) {
		if _, done := m.Vars[c.Name(t)]; done && c.Op(t) == smt.OpVar {
			continue
		}
		v, err := p.value(ctx, c.Named(t))
		if err != nil {
			return nil, err
		}
		if c.Op(t) == smt.OpVar {
			m.Vars[c.Name(t)] = v
			continue
		}
		var args []uint64
		for _, a := range c.Args(t) {
			v, err := p.value(ctx, c.Named(a))
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		name := c.Name(t)
		if m.Funcs[name] == nil {
			m.Funcs[name] = map[string]uint64{}
		}
		m.Funcs[name][smt.Key(args)] = v
	}
	return m, nil
}

// value asks for the value of one term. The answer ((term value)) may span several lines; it ends
// where the parentheses outside of quoted names are balanced.
func (p *process) value(ctx context.Context, term string) (uint64, error) {
	if err := p.write(ctx, []byte("(get-value ("+term+"))\n")); err != nil {
		return 0, err
	}
	var text strings.Builder
	for depth, quoted := 0, false; ; {
		l, err := p.line(ctx)
		if err != nil {
			return 0, err
		}
		for _, r := range l {
			switch {
			case r == '|':
				quoted = !quoted
			case quoted:
			case r == '(':
				depth++
			case r == ')':
				depth--
			}
		}
		text.WriteString(l)
		text.WriteByte(' ')
		if depth <= 0 {
			break
		}
	}
	return literal(text.String())
}

// literal parses the value at the end of ((term value)): a Boolean, or a bit-vector in one of the
// notations of SMT-LIB and z3.
func literal(text string) (uint64, error) {
	s := strings.TrimSpace(text)
	if !strings.HasPrefix(s, "((") || !strings.HasSuffix(s, "))") {
		return 0, errGarbage(text)
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, "))"))
	word := s[strings.LastIndexAny(s, " )|")+1:]
	switch {
	case word == "true":
		return 1, nil
	case word == "false":
		return 0, nil
	case strings.HasPrefix(word, "#x"):
		return parse(word[2:], 16, text)
	case strings.HasPrefix(word, "#b"):
		return parse(word[2:], 2, text)
	}
	// (_ bv5 32): its closing parenthesis is one of the two that were trimmed.
	if i := strings.LastIndex(s, "(_ bv"); i >= 0 {
		if digits, _, ok := strings.Cut(s[i+len("(_ bv"):], " "); ok {
			return parse(digits, 10, text)
		}
	}
	return 0, errGarbage(text)
}

// parse parses an unsigned number that must fit 64 bits, the widest term. text is the answer, for
// the error.
func parse(digits string, base int, text string) (uint64, error) {
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, errGarbage(text)
	}
	return v, nil
}
