package hostedit

import (
	"fmt"
	"strings"

	"heddle/internal/syntax"
)

// whole returns an error unless a launch is a statement of its own, with a grid and a block.
func whole(l *syntax.HostLaunch, params []syntax.Param) error {
	switch {
	case l.Stmt.To == 0:
		return refused(l, "the launch is only a part of a statement")
	case len(l.Config) < 2 || len(l.Config) > 4:
		return refused(l, "the launch has no grid and block")
	case len(l.Args) != len(params):
		return refused(l, "the launch does not give all arguments")
	}
	return nil
}

func refused(l *syntax.HostLaunch, format string, args ...any) error {
	return &syntax.HostError{Pos: l.Host.File.PosAt(l.Whole.From), What: fmt.Sprintf(format, args...)}
}

// Cooperative makes a launch cooperative: its arguments are given by their addresses. What is not a
// variable of the parameter's type is copied to one.
func (p *Patch) Cooperative(l *syntax.HostLaunch, params []syntax.Param) error {
	if err := whole(l, params); err != nil {
		return err
	}
	var lines, addresses []string
	for i := range l.Args {
		a, typ := &l.Args[i], plainType(params[i].Type)
		switch {
		case a.Var != "" && (a.Type == typ || "const "+a.Type == typ && strings.HasSuffix(typ, "*")):
			addresses = append(addresses, "&"+a.Var)
		case a.Var != "" && strings.TrimPrefix(a.Type, "const ") == typ && !strings.Contains(typ, "*"):
			addresses = append(addresses, "(void *)&"+a.Var)
		case strings.ContainsAny(typ, "([<&") || typ == "":
			return refused(l, "no variable of type %s can be declared for the argument %s", typ,
				p.Source(a.Range))
		default:
			name := p.FreshIn(l.Host.Body, params[i].Name+"_arg")
			lines = append(lines, fmt.Sprintf("%s = %s;", declare(typ, name), p.Source(a.Range)))
			addresses = append(addresses, "&"+name)
		}
	}
	array := p.FreshIn(l.Host.Body, "args")
	call := fmt.Sprintf("cudaLaunchCooperativeKernel((void *)%s, %s, %s", p.Source(l.Name),
		p.Source(l.Config[0]), p.Source(l.Config[1]))
	if len(addresses) == 0 {
		call += ", nullptr"
	} else {
		lines = append(lines, fmt.Sprintf("void *%s[] = {%s};", array, strings.Join(addresses, ", ")))
		call += ", " + array
	}
	for _, c := range l.Config[2:] {
		call += ", " + p.Source(c)
	}
	p.Around(l.Stmt, append(lines, call+");"))
	return nil
}

// plainType is a type without qualifiers of the object itself.
func plainType(typ string) string {
	for was := ""; was != typ; {
		was = typ
		for _, q := range []string{"const", "__restrict", "__restrict__", "volatile"} {
			typ = strings.TrimSpace(strings.TrimSuffix(typ, q))
		}
	}
	if !strings.Contains(typ, "*") {
		typ = strings.TrimPrefix(typ, "const ")
	}
	return typ
}

// declare is a declaration: float *p, int n.
func declare(typ, name string) string {
	if strings.HasSuffix(typ, "*") {
		return typ + name
	}
	return typ + " " + name
}
