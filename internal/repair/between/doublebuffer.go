package between

import (
	"fmt"
	"strings"

	"heddle/internal/syntax"
)

// DoubleBuffered lets the kernel read the arrays that it overwrites from copies, which the host
// makes before each launch. Only a read that no write of the kernel comes before is replaced: what
// it reads then is what the array held at the launch. Barriers of the kernel with the given numbers
// are removed: they may separate nothing any more.
func (k *Kernel) DoubleBuffered(gone ...int) (*Candidate, error) {
	p := k.patch()
	out := &Candidate{Means: DoubleBuffer, Kernels: []string{k.Func.Name}}
	c := copies{Kernel: k, out: out, after: map[string]string{}}
	for i := range k.params {
		reads, err := k.early(i)
		if err != nil && out.Doubt == nil {
			out.Doubt = err
		}
		if len(reads) > 0 {
			c.add(i, reads, p.FreshIn(k.body(), k.params[i].Name+"_old"))
		}
	}
	switch {
	case len(c.arrays) > 0:
	case out.Doubt != nil:
		return nil, out.Doubt
	default:
		return nil, &syntax.HostError{Pos: k.Func.Span.Start,
			What: "no array is read before the kernel writes it"}
	}
	for i := range c.arrays {
		a := &c.arrays[i]
		p.Insert(k.params[a.param].To, ", "+a.declared(k.params[a.param].Type, a.name))
		for _, r := range a.reads {
			p.Replace(r.Name, a.name)
		}
	}
	if err := c.host(p); err != nil {
		return nil, err
	}
	for _, n := range gone {
		edits, at := k.Unit.WithoutBarrier(k.Func, n)
		p.Add(edits)
		out.Changes = append(out.Changes, Change{At: at,
			Text: "the barrier is removed: the copies leave nothing for it to separate"})
	}
	var err error
	out.Text, err = p.Text()
	return out, err
}

// early returns the reads of an array parameter, if the kernel writes it, that no write may come
// before. The error is about another use of it, which stays as it is.
func (k *Kernel) early(param int) ([]syntax.Access, error) {
	p := k.params[param]
	if !strings.HasSuffix(pointer(p.Type), "*") || strings.HasPrefix(p.Type, "const ") {
		return nil, nil
	}
	var reads []syntax.Access
	var late, odd *syntax.Access
	all := k.Func.Accesses(p)
	written := false
	for i := range all {
		a := &all[i]
		switch a.Kind {
		case syntax.AccessWrite, syntax.AccessUpdate:
			written = true
			continue
		case syntax.AccessOther:
			odd = a
			continue
		}
		before := false
		for j := range all {
			w := all[j].Kind == syntax.AccessWrite || all[j].Kind == syntax.AccessUpdate
			before = before || w && a.After(&all[j])
		}
		if before {
			late = a
			continue
		}
		reads = append(reads, *a)
	}
	at := func(a *syntax.Access, what string) error {
		return &syntax.HostError{Pos: k.Func.File.PosAt(a.Name.From), What: what}
	}
	switch {
	case odd != nil:
		return nil, at(odd, fmt.Sprintf(
			"%s is used here other than as an element that is read or written", p.Name))
	case !written:
		return nil, nil
	case late != nil:
		return reads, at(late, fmt.Sprintf("%s may be read here after the kernel wrote it, "+
			"so a copy from before the launch would not do", p.Name))
	}
	return reads, nil
}

// pointer is the type of a parameter without qualifiers of the pointer itself.
func pointer(typ string) string {
	for _, q := range []string{"__restrict", "const"} {
		typ = strings.TrimSpace(strings.TrimSuffix(typ, q))
	}
	return typ
}
