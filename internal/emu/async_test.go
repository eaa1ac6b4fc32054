package emu

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// copyPrelude puts the address of the thread's 16 bytes of shared memory in %w, and of its 16 bytes
// of x in %q.
const copyPrelude = `.shared .align 16 .b8 buf[512];
	mov.u32 %w, buf;
	mad.lo.u32 %w, %t, 16, %w;
	mad.wide.u32 %q, %i, 16, %x;
`

func copyConfig(threads uint32) *launch.Config {
	return config(1, threads, buffer("out", 4096),
		launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "x", Size: 512, Fill: launch.FillIota}})
}

// What a copy leaves in shared memory (PTX ISA 9.7.9.25.3.1): the bytes of the source, and zeros
// behind src-size or where the source is ignored. x has i in word i.
func TestCopyBytes(t *testing.T) {
	for _, test := range []struct {
		copy string
		want func(i uint32) [4]uint32
	}{
		{"cp.async.cg.shared.global [%w], [%q], 16;",
			func(i uint32) [4]uint32 { return [4]uint32{4 * i, 4*i + 1, 4*i + 2, 4*i + 3} }},
		{"cp.async.ca.shared::cta.global.L2::128B [%w], [%q], 16;",
			func(i uint32) [4]uint32 { return [4]uint32{4 * i, 4*i + 1, 4*i + 2, 4*i + 3} }},
		{"cp.async.ca.shared.global [%w], [%q], 8;",
			func(i uint32) [4]uint32 { return [4]uint32{4 * i, 4*i + 1, ^uint32(0), ^uint32(0)} }},
		{"cp.async.ca.shared.global [%w+8], [%q+12], 4;",
			func(i uint32) [4]uint32 { return [4]uint32{^uint32(0), ^uint32(0), 4*i + 3, ^uint32(0)} }},
		{"cp.async.cg.shared.global [%w], [%q], 16, 8;",
			func(i uint32) [4]uint32 { return [4]uint32{4 * i, 4*i + 1, 0, 0} }},
		{"cp.async.cg.shared.global [%w], [%q], 16, 1;",
			func(i uint32) [4]uint32 { return [4]uint32{4 * i & 0xff, 0, 0, 0} }},
		{"cp.async.cg.shared.global [%w], [%q], 16, 0;", func(uint32) [4]uint32 { return [4]uint32{} }},
		{"setp.lt.u32 %c, %t, 4;\ncp.async.cg.shared.global [%w], [%q], 16, %c;",
			func(i uint32) [4]uint32 {
				if i < 4 {
					return [4]uint32{}
				}
				return [4]uint32{4 * i, 4*i + 1, 4*i + 2, 4*i + 3}
			}},
		{"mov.u64 %r, 0;\ncp.async.cg.shared.global.L2::cache_hint [%w], [%q], 16, %r;",
			func(i uint32) [4]uint32 {
				return [4]uint32{4 * i, 4*i + 1, 4*i + 2, 4*i + 3}
			}},
		{"mov.u64 %r, 0;\nmov.u32 %u, 4;\ncp.async.cg.shared.global.L2::cache_hint [%w], [%q], 16, %u, %r;", func(i uint32) [4]uint32 {
			return [4]uint32{4 * i, 0, 0, 0}
		}},
	} {
		k := kernel(t, copyPrelude+`
	mov.u32 %v, -1;
	st.shared.v4.u32 [%w], {%v, %v, %v, %v};
`+test.copy+`
	cp.async.wait_all;
	mad.wide.u32 %p, %t, 16, %o;
	ld.shared.v4.u32 {%v, %w, %u, %z}, [%w];
	st.global.v4.u32 [%p], {%v, %w, %u, %z};
	ret;`)
		twoModels(t, func(t *testing.T, opt Options) {
			res, r := completed(t, k, copyConfig(32), opt)
			got := words(t, res, "out", 128)
			for i := range uint32(32) {
				if want := test.want(i); [4]uint32(got[4*i:]) != want {
					t.Fatalf("%s: thread %d: %x, want %x", test.copy, i, got[4*i:4*i+4], want)
				}
			}
			if cs, gs := of[copied](r), of[event.CopyGroup](r); len(cs) != 1 || len(gs) != 1 ||
				!gs[0].Commit || !gs[0].Wait || gs[0].Pending != 0 {
				t.Errorf("%s: %+v, %+v", test.copy, cs, gs)
			}
		})
	}
}

// A copy happens at some time up to its wait, and schedules show several: a thread that does not
// wait reads old bytes under some seeds and new ones under others (9.7.9.25.3.3), and a copy may
// see a later write to its source.
func TestCopyIsAsynchronous(t *testing.T) {
	early := kernel(t, copyPrelude+`
	mov.u32 %v, 77;
	st.shared.u32 [%w], %v;
	cp.async.cg.shared.global [%w], [%q], 16;
	cp.async.commit_group;
	ld.shared.u32 %u, [%w];
	st.global.u32 [%p], %u;
	cp.async.wait_group 0;
	ret;`)
	late := kernel(t, copyPrelude+`
	cp.async.cg.shared.global [%w], [%q], 16;
	cp.async.commit_group;
	mov.u32 %v, 77;
	st.global.u32 [%q], %v;
	cp.async.wait_group 0;
	ld.shared.u32 %u, [%w];
	st.global.u32 [%p], %u;
	ret;`)
	seen := [2]map[uint32]bool{{}, {}}
	for seed := range uint64(16) {
		res, _ := completed(t, early, copyConfig(1), Options{Seed: seed})
		seen[0][words(t, res, "out", 1)[0]] = true
		res, _ = completed(t, late, copyConfig(1), Options{Seed: seed})
		seen[1][words(t, res, "out", 1)[0]] = true
	}
	for i, s := range seen {
		if len(s) != 2 || !s[0] || !s[77] {
			t.Errorf("case %d: %v, want 0 and 77", i, s)
		}
	}
}

// wait_group N completes all groups but the last N, by thread (9.7.9.25.3.3), under every seed.
func TestCopyGroups(t *testing.T) {
	k := kernel(t, copyPrelude+`
	setp.ge.u32 %c, %t, 16;
	cp.async.ca.shared.global [%w], [%q], 4;
	cp.async.commit_group;
	@%c cp.async.commit_group;
	cp.async.ca.shared.global [%w+4], [%q+4], 4;
	@!%c cp.async.commit_group;
	cp.async.wait_group 1;
	ld.shared.u32 %v, [%w];
	cp.async.wait_all;
	ld.shared.u32 %u, [%w+4];
	add.u32 %v, %v, %u;
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, _ := completed(t, k, copyConfig(32), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 { return uint32(8*i + 1) })
	})
}

// Invalid copies, and forms that are not executed.
func TestCopyErrors(t *testing.T) {
	for _, test := range []struct {
		copy    string
		kind    StopKind
		message string
	}{
		{"cp.async.cg.shared.global [%w+512], [%q], 16;", OutOfBounds,
			"write of 16 bytes at offset 512 of buf, outside of the 512 bytes of shared memory"},
		{"cp.async.cg.shared.global [%w+8], [%q], 16;", Misaligned, "not aligned to 16"},
		{"cp.async.cg.shared.global [%w], [%q+512], 16;", OutOfBounds,
			"read of 16 bytes at offset 512 of x, which has 512 bytes"},
		{"cp.async.cg.shared.global [%w], [%q+4], 16;", Misaligned, "x+0x4 is not aligned to 16"},
		{"cp.async.cg.shared.global [%w], [%q], 16, 17;", OutOfBounds,
			"asynchronous copy reads 17 bytes but writes only 16"},
		{"cp.async.cg.shared.global [%w], [%q], 8;", Unsupported, ".cg 16"},
		{"cp.async.ca.shared.global [%w], [%q], 2;", Unsupported, "4, 8 or 16 bytes"},
		{"cp.async.cs.shared.global [%w], [%q], 4;", Unsupported, ".ca copies"},
		{"cp.async.ca.shared.global [%w], [%q], 4, 4, 4;", Unsupported, "1 operands too many"},
		{"cp.async.mbarrier.arrive.shared.b64 [%w];", MBarrierUninitialized,
			"has not been initialized"},
	} {
		_, res, _ := start(t, kernel(t, copyPrelude+test.copy+"\nret;"), copyConfig(1), Options{})
		if s := res.Stop; s == nil || s.Kind != test.kind || !strings.Contains(s.Message, test.message) {
			t.Errorf("%s: %+v", test.copy, res.Stop)
		}
	}
	// A source that is not read may be anything.
	completed(t,
		kernel(t,
			copyPrelude+
				"mov.u64 %q, 3;\ncp.async.cg.shared.global [%w], [%q], 16, 0;\ncp.async.wait_all;\nret;"),
		copyConfig(1), Options{})
}

// Unknown bytes are copied as such, and the zeros after them are known. The operands of the copy
// must be known.
func TestCopyOfUnknown(t *testing.T) {
	for seed := range uint64(4) {
		k := kernel(t,
			copyPrelude+
				"cp.async.cg.shared.global [%w], [%q], 16, 6;\ncp.async.wait_all;\nld.shared.v4.u32 {%v, %w, %u, %z}, [%w];\nst.global.v4.u32 [%o], {%v, %w, %u, %z};\nret;")
		res, _ := completed(t, k, config(1, 1, buffer("out", 64), unknownBuffer()), Options{Seed: seed})
		for i, want := range []bool{false, false, true, true} {
			if known, err := res.Read("out", uint64(4*i), make([]byte, 4)); err != nil || known != want {
				t.Errorf("word %d: known %t, want %t (%v)", i, known, want, err)
			}
		}
	}
	for _, test := range []struct{ text, message string }{
		{"ld.global.u32 %v, [%q];\ncp.async.ca.shared.global [%v], [%q], 4;",
			"the destination of this asynchronous copy depends on the contents of in"},
		{"ld.global.u64 %r, [%q];\ncp.async.ca.shared.global [%w], [%r], 4;",
			"the source of this asynchronous copy depends on the contents of in"},
		{"ld.global.u32 %v, [%q];\ncp.async.ca.shared.global [%w], [%q], 4, %v;",
			"the size of this asynchronous copy depends on the contents of in"},
		{"ld.global.u32 %v, [%q];\nsetp.eq.u32 %c, %v, 0;\ncp.async.ca.shared.global [%w], [%q], 4, %c;",
			"whether this asynchronous copy reads its source depends on the contents of in"},
		{"cp.async.ca.shared.global [%w], [%q], 4;\ncp.async.wait_all;\nld.shared.u32 %v, [%w];\nsetp.eq.u32 %c, %v, 0;\n@%c trap;", "depends on the contents of in"},
	} {
		_, res, _ := start(t, kernel(t, copyPrelude+test.text+"\nret;"),
			config(1, 1, buffer("out", 64), unknownBuffer()), Options{})
		if s := res.Stop; s == nil || s.Kind != DependsOnInput ||
			!strings.Contains(s.Message, test.message) {
			t.Errorf("%s: %+v", test.text, res.Stop)
		}
	}
}
