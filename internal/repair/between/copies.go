package between

import (
	"fmt"
	"strings"

	"heddle/internal/repair/hostedit"
	"heddle/internal/syntax"
)

// copies are the buffers that DoubleBuffered adds.
type copies struct {
	*Kernel
	out    *Candidate
	arrays []copied
	// after holds for each allocation in host code, by its place and variable, the variable of the
	// copy
	after map[string]string
}

// copied is an array of the kernel with its copy.
type copied struct {
	param int
	name  string // of the new parameter
	reads []syntax.Access
}

func (c *copies) add(param int, reads []syntax.Access, name string) {
	c.arrays = append(c.arrays, copied{param, name, reads})
	c.out.Changes = append(c.out.Changes, Change{At: reads[0].Name.From, Text: fmt.Sprintf(
		"what the kernel reads of %s before it writes is read from a copy, %s",
		c.params[param].Name, name)})
}

// declared is the declaration of the parameter.
func (a *copied) declared(typ, name string) string {
	return "const " + strings.TrimSpace(strings.TrimSuffix(pointer(typ), "*")) + " *" + name
}

// host adds the copies to all launches: each gets further arguments, and a copy before it.
func (c *copies) host(p *hostedit.Patch) error {
	for i := range c.Launches {
		l := &c.Launches[i]
		var before []string
		extra := map[int]string{} // by argument
		for _, a := range c.arrays {
			if a.param >= len(l.Args) {
				return &syntax.HostError{Pos: l.Host.File.PosAt(l.Whole.From),
					What: "the launch does not give all arguments"}
			}
			arg := &l.Args[a.param]
			if err := alone(l, a.param); err != nil {
				return err
			}
			buffer, err := l.Buffer(arg)
			if err != nil {
				return err
			}
			if err := c.inScope(l, buffer, arg); err != nil {
				return err
			}
			name := c.allocated(p, l, arg, buffer, c.params[a.param].Type)
			extra[a.param] = name
			before = append(before, p.CopyBefore(l, name, arg.Var, p.Source(buffer.Size)))
			c.out.Changes = append(c.out.Changes, Change{At: l.Whole.From, Text: fmt.Sprintf(
				"%s is copied to %s before the launch", arg.Var, name)})
		}
		p.Relaunch(l, before, extra)
	}
	return nil
}

// alone checks that no other argument of a launch is the same variable: the kernel may write the
// array through it.
func alone(l *syntax.HostLaunch, param int) error {
	for i := range l.Args {
		if i != param && l.Args[i].Var == l.Args[param].Var && l.Args[i].Var != "" {
			return &syntax.HostError{Pos: l.Host.File.PosAt(l.Whole.From),
				What: l.Args[i].Var + " is passed twice"}
		}
	}
	return nil
}

// inScope checks that the variable of the copy, declared where the buffer is allocated, can be
// named at the launch.
func (c *copies) inScope(l *syntax.HostLaunch, b *syntax.HostBuffer, a *syntax.HostArg) error {
	block := b.Alloc.Block
	if l.Stmt.To == 0 {
		return &syntax.HostError{Pos: l.Host.File.PosAt(l.Whole.From),
			What: "the launch is only a part of a statement"}
	}
	if b.Alloc.Bare || l.Whole.From < b.Alloc.From || l.Whole.To > block.To {
		return &syntax.HostError{Pos: l.Host.File.PosAt(b.Alloc.From), What: fmt.Sprintf(
			"the block in which %s is allocated does not contain the launch", a.Var)}
	}
	return nil
}

// allocated returns the variable of the copy of a buffer, and adds its allocation once.
func (c *copies) allocated(p *hostedit.Patch, l *syntax.HostLaunch, a *syntax.HostArg,
	b *syntax.HostBuffer, typ string) string {
	key := fmt.Sprint(b.Alloc.From, a.Var)
	if name, ok := c.after[key]; ok {
		return name
	}
	name := p.FreshIn(l.Host.Body, a.Var+"_old")
	c.after[key] = name
	element := strings.TrimSpace(strings.TrimSuffix(pointer(typ), "*"))
	p.After(b.Alloc, []string{element + " *" + name + ";", p.Renamed(b.Alloc.Range, a.Var, name)})
	for _, free := range b.Free {
		if free.From > b.Alloc.From && free.To <= b.Alloc.Block.To {
			p.After(free, []string{p.Renamed(free.Range, a.Var, name)})
		}
	}
	return name
}
