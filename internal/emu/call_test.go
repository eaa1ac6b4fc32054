package emu

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/event"
)

const calls = `
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 u, .param .b64 c);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.global .align 1 .b8 fmt[] = {105, 61, 37, 100, 32, 37, 115, 32, 37, 46, 50, 102, 32, 37, 108, 117, 10, 0}; // "i=%d %s %.2f %lu\n"
.global .align 1 .b8 str[] = {104, 105, 0};
.func (.param .b32 r) fact (.param .b32 n) {
	.reg .u32 %n, %v; .reg .pred %p;
	ld.param.u32 %n, [n];
	setp.gt.u32 %p, %n, 1;
	@%p bra MORE;
	st.param.b32 [r], 1;
	ret;
MORE:
	sub.u32 %v, %n, 1;
	{
		.param .b32 a; .param .b32 b;
		st.param.b32 [a], %v;
		call (b), fact, (a);
		ld.param.b32 %v, [b];
	}
	mul.lo.u32 %v, %v, %n;
	st.param.b32 [r], %v;
	ret;
}
.func (.reg .u32 d) twice (.reg .u32 a) { add.u32 d, a, a; ret; }
.func (.reg .u32 d) plus7 (.reg .u32 a) { add.u32 d, a, 7; ret; }
.func (.reg .u32 d) five (.reg .u32 a) {
	.reg .pred %p;
	mov.u32 d, 5;
	setp.gt.u32 %p, a, 20;
	@%p ret;
	mov.u32 d, %tid.x;
	ret;
}
.func (.param .b32 r) sum (.param .align 8 .b8 s[16]) {
	.reg .u32 %v<4>; .reg .u64 %a; .local .align 4 .b8 buf[16];
	ld.param.v4.u32 {%v0, %v1, %v2, %v3}, [s];
	st.local.u32 [buf], %v0;
	st.local.u32 [buf+4], %v1;
	mov.u64 %a, buf;
	cvta.local.u64 %a, %a;
	ld.u32 %v0, [%a];
	ld.u32 %v1, [%a+4];
	add.u32 %v0, %v0, %v1;
	add.u32 %v0, %v0, %v2;
	add.u32 %v0, %v0, %v3;
	st.param.b32 [r], %v0;
	ret;
}
.func (.param .b32 r) early (.param .b32 n) {
	.reg .u32 %n; .reg .pred %p;
	ld.param.u32 %n, [n];
	st.param.b32 [r], 1;
	setp.lt.u32 %p, %n, 4;
	@%p ret;
	st.param.b32 [r], 2;
	setp.lt.u32 %p, %n, 8;
	@%p exit;
	st.param.b32 [r], %n;
	ret;
}
.visible .entry k(.param .u64 out, .param .u64 x) {
	.reg .u32 %i, %v, %w; .reg .u64 %o, %p, %q, %r; .reg .pred %c; .reg .f64 %fd;
	.local .align 8 .b8 args[32];
	mov.u32 %i, %tid.x;
	ld.param.u64 %o, [out];
	mad.wide.u32 %p, %i, 4, %o;
`

func callKernel(body string) string {
	return calls + body + "\n\tst.global.u32 [%p], %v;\n\tret;\n}"
}

func TestCalls(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       func(i int) uint32
		stores     int
	}{
		{"recursion", `{ .param .b32 a; .param .b32 b;
	rem.u32 %v, %i, 10;
	st.param.b32 [a], %v;
	call (b), fact, (a);
	ld.param.b32 %v, [b]; }`, func(i int) uint32 {
			f := uint32(1)
			for k := range uint32(i % 10) {
				f *= k + 1
			}
			return f
		}, 1},
		{"registers", "call (%v), twice, (%i);\n\tcall (%v), plus7, (%v);",
			func(i int) uint32 { return uint32(2*i + 7) }, 1},
		{"results that are the same or grow evenly over the lanes", "call (%v), five, (%i);",
			func(i int) uint32 {
				if i > 20 {
					return 5
				}
				return uint32(i)
			}, 1},
		{"immediate", "call (%v), twice, (21);", func(int) uint32 { return 42 }, 1},
		{"struct", `{ .param .align 8 .b8 a[16]; .param .b32 b;
	st.param.b32 [a], %i;
	st.param.v2.b32 [a+8], {100, 1000};
	st.param.b32 [a+4], 10;
	call (b), sum, (a);
	ld.param.b32 %v, [b]; }`, func(i int) uint32 { return uint32(i + 1110) }, 1},
		// PTX ISA 9.7.17: the memory of each lane, apart from the variables of this function and of those
		// that it calls.
		{"alloca", `.local .align 4 .b8 own[8];
	.reg .b64 %a, %b;
	st.local.u32 [own], 7;
	mad.lo.u32 %w, %i, 4, 4;
	cvt.u64.u32 %q, %w;
	alloca.u64 %a, %q, 8;
	stacksave.u64 %b;
	stackrestore.u64 %b;
	alloca.u64 %b, 4;
	st.local.u32 [%b], 9;
	add.u64 %q, %a, %q;
	st.local.u32 [%q+-4], %i;
	{ .param .align 8 .b8 a[16]; .param .b32 c;
	st.param.v4.b32 [a], {1, 2, 3, 4};
	call (c), sum, (a);
	ld.param.b32 %v, [c]; }
	ld.local.u32 %w, [%q+-4];
	ld.local.u32 %v, [own];
	mad.lo.u32 %v, %v, 100, %w;
	ld.local.u32 %w, [%b];
	mad.lo.u32 %v, %v, 100, %w;`, func(i int) uint32 { return uint32((700+i)*100 + 9) }, 1},
		{"guarded", "mov.u32 %v, 5;\n\tsetp.lt.u32 %c, %i, 9;\n\t@%c call (%v), twice, (%i);",
			func(i int) uint32 {
				if i < 9 {
					return uint32(2 * i)
				}
				return 5
			}, 1},
		{"indirect", `mov.u64 %q, twice;
	mov.u64 %r, plus7;
	and.b32 %w, %i, 1;
	setp.eq.u32 %c, %w, 0;
	selp.u64 %q, %q, %r, %c;
	T: .calltargets twice, plus7;
	call (%v), %q, (%i), T;`, func(i int) uint32 {
			if i%2 == 0 {
				return uint32(2 * i)
			}
			return uint32(i + 7)
		}, 1},
		{"prototype", `mov.u64 %q, plus7;
	P: .callprototype (.reg .u32 _) _ (.reg .u32 _);
	call (%v), %q, (%i), P;`, func(i int) uint32 { return uint32(i + 7) }, 1},
		{"early", `{ .param .b32 a; .param .b32 b;
	st.param.b32 [a], %i;
	call (b), early, (a);
	ld.param.b32 %v, [b]; }`, func(i int) uint32 {
			switch {
			case i < 4:
				return 1
			case i < 8:
				return 0 // exited
			}
			return uint32(i)
		}, 1},
	} {
		k := module(t, callKernel(test.text))
		twoModels(t, func(t *testing.T, opt Options) {
			_, res, r := start(t, k, config(1, 32, buffer("out", 128)), opt)
			if res.Status != Completed {
				t.Fatalf("%s: %+v", test.name, res.Stop)
			}
			got := words(t, res, "out", 32)
			for i := range got {
				if got[i] != test.want(i) {
					t.Fatalf("%s: lane %d: %d, want %d", test.name, i, got[i], test.want(i))
				}
			}
			if as := of[access](r); len(as) != test.stores {
				t.Errorf("%s: %d stores, want %d: lanes did not come together", test.name, len(as), test.stores)
			}
		})
	}
}

// Sites tell the call stack; a recursive call leads back to the first activation.
func TestSites(t *testing.T) {
	k := module(t, `
.func leaf (.reg .u64 a) { st.global.u32 [a], 1; ret; }
.func mid (.reg .u64 a) { call leaf, (a); ret; }
.visible .entry k(.param .u64 out) {
	.reg .u64 %o;
	ld.param.u64 %o, [out];
	call leaf, (%o);
	call mid, (%o);
	call mid, (%o);
	ret;
}`)
	cfg := config(1, 1, buffer("out", 4))
	cfg.Args = cfg.Args[:1]
	m, res, r := start(t, k, cfg, Options{})
	if res.Status != Completed {
		t.Fatalf("%+v", res.Stop)
	}
	var depth []int
	sites := map[event.Site]bool{}
	for _, a := range of[access](r) {
		info := m.Site(a.Site)
		if info.Instr.Op() != "st" {
			t.Errorf("site %d is %s", a.Site, info.Instr.Op())
		}
		depth = append(depth, len(info.Calls))
		sites[a.Site] = true
		if int(a.Site) >= m.NumSites() {
			t.Errorf("site %d of %d", a.Site, m.NumSites())
		}
	}
	if fmt.Sprint(depth) != "[1 2 2]" || len(sites) != 3 {
		t.Errorf("call depths %v, %d sites", depth, len(sites))
	}
}

func TestStackOverflow(t *testing.T) {
	k := module(t, `
.func f (.reg .u32 a) { call f, (a); ret; }
.visible .entry k(.param .u64 out) { call f, (1); ret; }`)
	cfg := config(1, 32, buffer("out", 4))
	cfg.Args = cfg.Args[:1]
	_, res, _ := start(t, k, cfg, Options{})
	if res.Stop == nil || res.Stop.Kind != StackOverflow {
		t.Errorf("%+v", res.Stop)
	}
}

func TestPrintf(t *testing.T) {
	k := module(t, callKernel(`{ .param .b64 f; .param .b64 a; .param .b32 r;
	mul.lo.u32 %v, %i, -3;
	st.local.u32 [args], %v;
	cvta.global.u64 %q, str;
	st.local.u64 [args+8], %q;
	mov.f64 %fd, 0d3FF4000000000000;
	st.local.f64 [args+16], %fd;
	mov.u64 %q, 12345678901;
	st.local.u64 [args+24], %q;
	cvta.global.u64 %q, fmt;
	st.param.b64 [f], %q;
	mov.u64 %q, args;
	cvta.local.u64 %q, %q;
	st.param.b64 [a], %q;
	call (r), vprintf, (f, a);
	ld.param.b32 %v, [r]; }`))
	var lines []string
	opt := Options{Printf: func(th event.Thread,
		s string) {
		lines = append(lines, fmt.Sprint(th, " ", s))
	}}
	res, _ := completed(t, k, config(1, 2, buffer("out", 8)), opt)
	if got := strings.Join(lines,
		""); got != "0 i=0 hi 1.25 12345678901\n1 i=-3 hi 1.25 12345678901\n" {
		t.Errorf("printed %q", got)
	}
	wantWords(t, res, "out", 2, func(int) uint32 { return 4 })
}

func TestAssertAndHeap(t *testing.T) {
	k := module(t, callKernel(`{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 u; .param .b64 c;
	cvta.global.u64 %q, str;
	st.param.b64 [m], %q;
	st.param.b64 [f], %q;
	st.param.b32 [l], 17;
	st.param.b64 [u], %q;
	setp.ne.u32 %c, %i, 3;
	@%c bra OK;
	call __assertfail, (m, f, l, u, c);
OK:
	}`))
	_, res, _ := start(t, k, config(1, 32, buffer("out", 128)), Options{})
	if s := res.Stop; s == nil || s.Kind != AssertFailed || s.Index.X != 3 ||
		!strings.Contains(s.Message, `hi:17: hi: assertion "hi" failed`) {
		t.Errorf("%+v", s)
	}
	heap := module(t, callKernel(`{ .param .b64 n; .param .b64 r;
	st.param.b64 [n], 8;
	call (r), malloc, (n);
	ld.param.b64 %q, [r];
	st.u32 [%q+4], %i;
	ld.u32 %v, [%q+4];
	st.param.b64 [n], %q;
	call free, (n);
	setp.eq.u32 %c, %i, 31;
	@%c ld.u32 %v, [%q]; }`))
	_, res, _ = start(t, heap, config(1, 32, buffer("out", 128)), Options{})
	if s := res.Stop; s == nil || s.Kind != OutOfBounds || s.Index.X != 31 ||
		!strings.Contains(s.Message, "malloc#32+0x0, which has been freed") {
		t.Errorf("%+v", s)
	}
}

// What has no body here stops the run when it is reached, and not before.
func TestUnsupported(t *testing.T) {
	k := module(t, `.extern .func mystery (.param .b32 a);
.visible .entry k(.param .u64 out, .param .u64 x) {
	.reg .u32 %i; .reg .pred %c; .param .b32 a;
	mov.u32 %i, %tid.x;
	setp.lt.u32 %c, %i, 100;
	@%c bra END;
	call mystery, (a);
END:	ret;
}`)
	completed(t, k, config(1, 100, buffer("out", 4)), Options{})
	_, res, _ := start(t, k, config(1, 102, buffer("out", 4)), Options{})
	if s := res.Stop; s == nil || s.Kind != Unsupported || !strings.Contains(s.Message, "mystery") ||
		s.Index.X != 100 {
		t.Errorf("%+v", s)
	}
}
