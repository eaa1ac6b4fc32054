package launch

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
)

// maxLaunches bounds the launches of one kernel that Launches returns. Each is run and proved, and
// files that launch a kernel more often are benchmarks that vary a size.
const maxLaunches = 16

// HostLaunches are the launches of a kernel that are to be examined.
type HostLaunches struct {
	Configs []*Config // at least one
	// Left is the number of distinct launches beyond the bound: nothing may be said of them.
	Left int
	// Failed are launches that cannot happen, such as one with too many threads.
	Failed []*Error
}

// Launches decides every launch of kernel k, one for each distinct launch in the host code of its
// file, in the order of the file. Two launches are distinct if their shapes, arguments or shared
// buffers differ after what req, a configuration file and comments specify has overridden the host
// code. If the host code has no launch, the result is that of Resolve. At most maxLaunches are
// returned.
//
// A launch that cannot be resolved is left out with a note, unless all of them fail: then the
// errors of the first are returned, and nil.
func Launches(k *ir.Func, req Request, facts *SourceFacts) (*HostLaunches, []*Error) {
	facts = facts.unless(req.Saved)
	all := hostLaunches(k, facts)
	if req.Host != 0 || len(all) < 2 {
		c, errs := Resolve(k, req, facts)
		if len(errs) > 0 {
			return nil, errs
		}
		return &HostLaunches{Configs: []*Config{c}}, nil
	}
	code := gather(k)
	out := &HostLaunches{}
	var first []*Error
	seen := make(map[string]bool)
	for _, n := range all {
		c, errs := newResolver(k, code).resolve(req, facts, n)
		if len(errs) > 0 {
			if first == nil {
				first = errs
			}
			span := facts.Launches[n].Span
			out.Failed = append(out.Failed, &Error{Span: span, Msg: fmt.Sprintf(
				"the launch in line %d of the host code is not examined: %s", span.Start.Line(), errs[0].Msg)})
			continue
		}
		key := c.identity()
		if len(c.Unknowns) > 0 { // the values are examples
			key += facts.Launches[n].relation()
		}
		switch {
		case seen[key]:
		case len(out.Configs) == maxLaunches:
			out.Left++
		default:
			out.Configs = append(out.Configs, c)
		}
		seen[key] = true
	}
	if len(out.Configs) == 0 {
		return nil, first
	}
	return out, nil
}

// relation returns the shape and the numbers of a launch with its unknowns numbered in the order of
// their appearance: two launches with one relation take the same values.
func (l *HostLaunch) relation() string {
	var b strings.Builder
	names := make(map[string]string)
	add := func(e *Expr) {
		fmt.Fprint(&b, "; ", e.renamed(func(name string) string {
			if names[name] == "" {
				names[name] = fmt.Sprintf("u%d", len(names))
			}
			return names[name]
		}))
	}
	for i := range 3 {
		add(l.Grid[i])
		add(l.Block[i])
	}
	add(l.Shared)
	for i := range l.Args {
		a := &l.Args[i]
		if a.Pointer == nil {
			add(a.Value)
		}
		for _, f := range a.Fields {
			fmt.Fprint(&b, " +", f.Offset)
			if f.Value.Pointer == nil {
				add(f.Value.Value)
			}
		}
	}
	return b.String()
}

// identity returns a text that is equal for two launches if the kernel cannot tell them apart.
func (c *Config) identity() string {
	var b strings.Builder
	fmt.Fprint(&b, c.Geometry, c.DynShared, c.Oversize, c.Cooperative, c.Unplaced)
	number := make(map[*Buffer]int)
	buffer := func(p *Buffer) {
		n, ok := number[p]
		if !ok {
			n = len(number)
			number[p] = n
			fmt.Fprintf(&b, " (%d %d %d %d %x)", p.Size, p.Fill, p.Value, p.Seed, p.Data)
		}
		fmt.Fprint(&b, " #", n)
	}
	arg := func(a *Arg) {
		fmt.Fprintf(&b, "; %x %v %s %s", a.Bits, a.Unknown, a.Func, a.Symbol)
		if a.Buffer != nil {
			buffer(a.Buffer)
			fmt.Fprint(&b, " at ", a.Offset)
		}
		if a.Local != nil {
			fmt.Fprint(&b, *a.Local)
		}
		for _, f := range a.Fields {
			fmt.Fprint(&b, " +", f.Offset)
			buffer(f.Buffer)
			fmt.Fprint(&b, " at ", f.At)
		}
	}
	for i := range c.Args {
		arg(&c.Args[i])
	}
	names := make([]string, 0, len(c.Symbols))
	for name := range c.Symbols {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		a := c.Symbols[name]
		b.WriteString(name)
		arg(&a)
	}
	return b.String()
}
