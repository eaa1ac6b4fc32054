package form_test

import (
	"errors"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/form"
	"heddle/internal/testing/kernels"
)

func kernel(body string) string {
	return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem)
{
	.reg .b32 %a, %b, %t;
	.reg .b64 %m;
	.reg .pred %p, %q;
	.shared .b32 s[64];
` + body + "}\n"
}

// TestNestedEnd: the block after an inner loop is the last of the outer one.
func TestNestedEnd(t *testing.T) {
	f := kernels.PTX(t, kernel(`	mov.u32 %t, %tid.x;
	mov.u32 %a, 0;
outer:
	mov.u32 %b, 0;
inner:
	add.u32 %b, %b, 1;
	setp.lt.u32 %p, %b, %t;
	@%p bra inner;
	add.u32 %a, %a, 1;
	setp.lt.u32 %p, %a, 4;
	@%p bra outer;
	ret;
`)).Funcs[0]
	p, err := form.New(f)
	if err != nil {
		t.Fatal(err)
	}
	var ends []string
	for _, b := range p.Blocks {
		for _, l := range b.Ends {
			ends = append(ends, b.Name+" ends "+p.Block(l.Header).Name)
		}
	}
	if got := strings.Join(ends, ", "); got != "inner ends inner, b3 ends outer" {
		t.Error(got)
	}
}

// TestSharedEnd: a block may be the last of two loops. Only when no thread goes back to the inner
// header is it asked whether one goes back to the outer one, because all of the inner loop is
// executed before anything outside it (section 4, second condition on the sort order).
func TestSharedEnd(t *testing.T) {
	f := kernels.PTX(t, kernel(`	mov.u32 %t, %tid.x;
outer:
	add.u32 %t, %t, 1;
inner:
	add.u32 %t, %t, 2;
	and.b32 %a, %t, 3;
again:	brx.idx %a, table;
out:
	ret;
table: .branchtargets inner, outer, out, out;
`)).Funcs[0]
	p, err := form.New(f)
	if err != nil {
		t.Fatal(err)
	}
	const want = `	next := %a = 0 ? inner : %a = 1 ? outer : %a = 2 ? out : out
	active := active = inner ? next : active
	goto inner_back, inner_exit
inner_back:
	assume active = inner
	goto inner
inner_exit:
	assume active != inner
	goto outer_back, outer_exit
outer_back:
	assume active = outer
	goto outer
outer_exit:
	assume active != outer
	goto out
`
	if got := p.Predicated(); !strings.Contains(got, want) {
		t.Errorf("%swant in it\n%s", got, want)
	}
}

// TestBarriers: a sync compares the barrier's number if threads may differ in it, and takes a count
// for that of all threads (PTX ISA 9.7.13.1). Its guard joins the test of v_active. A reduction
// gives all threads the same.
func TestBarriers(t *testing.T) {
	f := kernels.PTX(t, kernel(`	mov.u32 %t, %tid.x;
	and.b32 %a, %t, 1;
	setp.lt.u32 %p, %t, 9;
	bar.sync %a;
	bar.sync 1, 64;
	@!%p bar.sync 0;
	bar.red.or.pred %q, 0, %p;
	@%q bra L;
	ret;
L:
	trap;
`)).Funcs[0]
	p, err := form.New(f)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Lockstep()
	for _, want := range []string{
		"sync ((active$1 = Start) || (active$2 = Start)) => ((active$1 = Start) && (active$2 = Start) && %a$1 = %a$2)  // bar.sync %a\n",
		"sync ((active$1 = Start) || (active$2 = Start)) => ((active$1 = Start) && (active$2 = Start) && 64 = threads)  // bar.sync 1, 64\n",
		"sync ((active$1 = Start && !%p$1) || (active$2 = Start && !%p$2)) => ((active$1 = Start && !%p$1) && (active$2 = Start && !%p$2))  // bar.sync 0\n",
		"\t%q := active$1 = Start ? * : %q\n",
		"next$1 := %q ? L : b1\n",
		"assert (active$1 = L) => false\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestUniform: what one thread alone does is private, and so is a result that it carries out of a
// branch or a loop that threads leave at different times.
func TestUniform(t *testing.T) {
	f := kernels.PTX(t, kernel(`	mov.u32 %t, %tid.x;
	mov.u32 %a, 0;
	mov.u32 %b, 0;
	setp.lt.u32 %p, %t, 9;
	@%p bra L;
	mov.u32 %a, 1;
L:
	add.u32 %b, %b, 1;
	setp.lt.u32 %q, %b, 5;
	@%q bra L;
	ret;
`)).Funcs[0]
	p, err := form.New(f)
	if err != nil {
		t.Fatal(err)
	}
	uniform := map[string]bool{}
	for r, reg := range f.Regs {
		uniform[reg.Name] = p.Uniform.Reg(ir.RegID(r))
	}
	for name, want := range map[string]bool{"%t": false, "%a": false, "%b": true, "%p": false, "%q": true} {
		if uniform[name] != want {
			t.Errorf("%s: uniform %v, want %v", name, uniform[name], want)
		}
	}
}

// TestUnsupported names the construct. A cycle with two entries has no header that a loop could be
// predicated by.
func TestUnsupported(t *testing.T) {
	const irreducible = `	setp.eq.u32 %p, %t, 7;
	@%p bra right;
left:
	add.u32 %t, %t, 1;
	setp.eq.u32 %q, %t, 9;
	@%q bra out;
right:
	add.u32 %t, %t, 2;
	bra left;
out:
	ret;
`
	for _, c := range []struct{ body, want string }{
		{irreducible, "irreducible control flow: a cycle that can be entered at left (kernels.ptx:13:2) and at right (kernels.ptx:17:2)"},
		{"\tbar.arrive 1, 64;\n\tret;\n", "bar.arrive: a thread that does not wait at a barrier is in no lock-step with those that do"},
	} {
		f := kernels.PTX(t, kernel(c.body)).Funcs[0]
		var no *form.UnsupportedError
		if _, err := form.New(f); !errors.As(err, &no) || no.What != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		_, err := lockstep.Build(t.Context(), f, lockstep.Options{})
		var also *lockstep.UnsupportedError
		if !errors.As(err, &also) {
			t.Errorf("lockstep.Build: %v", err)
		}
		if c.body == irreducible && also.What != c.want {
			t.Errorf("lockstep.Build: %v, want %s", err, c.want)
		}
	}
}

// TestSpace: a generic access to a variable by name is one to the space of the variable, and one by
// a register may be to any (PTX ISA 6.4.1.1).
func TestSpace(t *testing.T) {
	for text, want := range map[string]event.Space{
		"st.shared.u32 [s], %a":   event.Shared,
		"st.shared.u32 [%t], %a":  event.Shared,
		"st.global.u32 [%m], %a":  event.Global,
		"ld.u32 %a, [s+4]":        event.Shared,
		"st.u32 [s], %a":          event.Shared,
		"st.u32 [%m], %a":         event.Generic,
		"atom.add.u32 %a, [s], 1": event.Shared,
	} {
		f := kernels.PTX(t, kernel("\t"+text+";\n\tret;\n")).Funcs[0]
		if got := form.Space(f.Blocks[0].Instrs[0]); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
