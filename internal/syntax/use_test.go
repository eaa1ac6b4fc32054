package syntax_test

import (
	"strings"
	"testing"
)

const useKernel = `namespace ptx { struct bar {
    unsigned long long v;
    __device__ void arrive(unsigned n) { asm volatile("a %0, %1;" ::"r"(&v), "r"(n)); }
}; }
__device__ unsigned at(const void *p) { return (unsigned)(unsigned long long)p; }
__device__ void wait(unsigned long long *b, unsigned p) { asm volatile("w [%0], %1;" ::"r"(at(b)), "r"(p) : "memory"); }
#define WAIT wait(&full, 1);
__global__ void k(int n) {
    __shared__ unsigned long long full, bars[4];
    ptx::bar b, *q = &b;
    for (int i = 0; i < n; i++) {
        wait(&full, i & 1);
        while (n > i) wait(bars + i, 0);
        b.arrive(2);
        q->arrive(n);
    }
    n ^= 1;
    WAIT
    if (n == 3) asm volatile("x %0, [%1], 5;" : "=r"(n) : "r"(at(&bars[2])));
}
`

// TestUses: calls and asm statements, what they are given, and the statements around them.
func TestUses(t *testing.T) {
	u := rewriteUnit(t, useKernel)
	k := u.Funcs[len(u.Funcs)-1]
	for _, c := range []struct {
		at, callee, object, statement string
		given                         []string
		kinds                         string // of what is given: p for an address, n for a number, - for another
	}{
		{"wait(&full, i", "wait", "", "wait(&full, i & 1);", []string{"&full", "i & 1"}, "pn"},
		{"wait(bars", "wait", "", "wait(bars + i, 0);", []string{"bars + i", "0"}, "pn"},
		{"arrive(2)", "arrive", "b", "b.arrive(2);", []string{"2"}, "n"},
		{"arrive(n)", "arrive", "q", "q->arrive(n);", []string{"n"}, "n"},
		{"asm volatile(\"x", "", "", `asm volatile("x %0, [%1], 5;" : "=r"(n) : "r"(at(&bars[2])));`,
			[]string{"n", "at(&bars[2])"}, "nn"},
		{"at(&bars", "at", "", `asm volatile("x %0, [%1], 5;" : "=r"(n) : "r"(at(&bars[2])));`,
			[]string{"&bars[2]"}, "p"},
	} {
		use := u.UseAt(k, strings.LastIndex(useKernel, c.at))
		if use == nil {
			t.Errorf("%s: none", c.at)
			continue
		}
		object := ""
		if use.Object != nil {
			object = use.Object.Text
		}
		var given []string
		kinds := ""
		for _, g := range use.Given {
			given = append(given, g.Text)
			switch {
			case g.Pointer:
				kinds += "p"
			case g.Number:
				kinds += "n"
			default:
				kinds += "-"
			}
		}
		if use.Callee != c.callee || object != c.object || k.Text(use.Statement) != c.statement ||
			strings.Join(given, "|") != strings.Join(c.given, "|") || kinds != c.kinds {
			t.Errorf("%s: %q of %q, given %q (%s), in %q", c.at, use.Callee, object, given, kinds, k.Text(use.Statement))
		}
	}
	if use := u.UseAt(k, strings.Index(useKernel, "WAIT\n    if")); use != nil {
		t.Errorf("of a macro: %+v", use)
	}
	for at, want := range map[string]string{"i++": "i", "n ^= 1": "n", "wait(&full, i": ""} {
		if got := u.VariableAt(k, strings.LastIndex(useKernel, at)); got != want {
			t.Errorf("%s changes %q, want %q", at, got, want)
		}
	}
	if got := u.ConditionAt(k, strings.Index(useKernel, "n == 3")); got != "n == 3" {
		t.Errorf("condition %q", got)
	}
	for _, f := range u.Funcs {
		asm := u.AsmOf(f)
		if want := map[string]bool{"arrive": true, "wait": true, "k": true}[f.Name]; (asm != nil) != want {
			t.Errorf("%s: an asm statement: %v", f.Name, asm != nil)
		}
		if f.Member != (f.Name == "arrive") || (f.Scope == "ptx::bar") != f.Member {
			t.Errorf("%s: scope %q, member %v", f.Name, f.Scope, f.Member)
		}
	}
}
