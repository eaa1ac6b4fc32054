package instrument

import (
	"strings"
	"testing"

	"heddle/internal/ir"
)

// shared is a module with two kernels that call one function.
const shared = `.version 7.8
.target sm_80
.address_size 64
.func f (.param .u64 p)
{
	.reg .u64 %a;
	.reg .u32 %r;
	ld.param.u64 %a, [p];
	bar.sync 0;
	st.global.u32 [%a], %r;
	ld.volatile.global.u32 %r, [%a];
	ret;
}
.visible .entry one (.param .u64 p)
{
	.reg .u64 %a;
	.reg .u32 %r;
	ld.param.u64 %a, [p];
	ld.global.u32 %r, [%a+8];
	ld.global.u32 %r, [%a+16];
	call f, (%a);
}
.visible .entry two (.param .u64 p)
{
	.reg .u64 %a;
	.reg .u32 %r;
	ld.param.u64 %a, [p];
	call f, (%a);
	bar.sync 0;
	exit;
}
.visible .entry three (.param .u64 p)
{
	ret;
}
`

// TestFreeSites: which sites are behind a test of LogAll. A function that a kernel calls which is
// not proved has all its records, and then no kernel that calls it is proved.
func TestFreeSites(t *testing.T) {
	m := read(t, []byte(shared))
	count := func(opt Options, want map[string]int, proved string) {
		t.Helper()
		r := instrumented(t, m, opt)
		stable(t, r.Text)
		guards, names := 0, ""
		for n := range r.Sites {
			s := &r.Sites[n]
			if s.Free && s.Ticket {
				t.Errorf("%s is strong and free", s.Instr.Text())
			}
			own := s.By == n || s.What == Converge
			if s.Free && own {
				guards++
			}
			if !own && r.Sites[s.By].Free != s.Free {
				t.Errorf("%s shares a record that is needed otherwise", s.Instr.Text())
			}
		}
		if got := strings.Count(string(r.Text), "["+LogAll+"]"); got != guards {
			t.Errorf("%d tests for %d sites", got, guards)
		}
		for _, k := range r.Kernels {
			if k.Free != want[k.Func.Name] {
				t.Errorf("%s: %d free, want %d", k.Func.Name, k.Free, want[k.Func.Name])
			}
			if k.Proved {
				names += k.Func.Name + " "
			}
		}
		if names != proved {
			t.Errorf("proved: %s, want %s", names, proved)
		}
	}
	proved := func(names string) func(*ir.Func) bool {
		return func(k *ir.Func) bool { return strings.Contains(names, k.Name) }
	}
	count(Options{}, nil, "")
	count(Options{Proved: proved("one three")}, map[string]int{"three": 1}, "three ")
	count(Options{Proved: proved("one two")}, map[string]int{"one": 5, "two": 4}, "one two ")
	count(Options{Proved: proved("one two"), Separate: true, Lockstep: true},
		map[string]int{"one": 6, "two": 5}, "one two ") // not counted: behind the calls
	count(Options{Free: func(*ir.Instr) bool { return true }}, map[string]int{"one": 3, "two": 1}, "")
	first := func(in *ir.Instr) bool { return in.Src[0].Val == 8 }
	count(Options{Free: first}, map[string]int{"one": 1}, "")
}
