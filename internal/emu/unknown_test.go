package emu

import (
	"strings"
	"testing"

	"heddle/internal/launch"
)

func unknownArg() launch.Arg { return launch.Arg{Name: "n", Unknown: true} }

func unknownBuffer() launch.Arg {
	return launch.Arg{Name: "in", Buffer: &launch.Buffer{Name: "in", Size: 4096,
		Fill: launch.FillUnknown}}
}

// Shared memory that nothing has written is not what a run waits for: it reads as zero, though some
// argument is unknown. Only a trace takes it for unknown (trace_test.go).
func TestFreshSharedIsKnown(t *testing.T) {
	k := kernel(t, ".shared .align 4 .b8 buf[256];\nld.param.u32 %v, [x];\nld.shared.u32 %w, [buf+4];\n"+
		"setp.ne.u32 %c, %w, 0;\n@%c bra END;\nst.global.u32 [%p], %v;\nEND:\nret;")
	_, res, _ := start(t, k, config(2, 32, buffer("out", 256), unknownArg()), Options{})
	if res.Status != Completed {
		t.Errorf("status %v: %+v", res.Status, res.Stop)
	}
}

// A branch, an address, a barrier operand or a target that needs an unknown value stops the run,
// and the message names the origin of the value.
func TestDependsOnInput(t *testing.T) {
	const fromArg = "ld.param.u32 %v, [x];\n"
	const fromBuf = "ld.global.u32 %v, [%x+8];\n"
	for _, test := range []struct {
		name, text string
		arg        launch.Arg
		message    string
	}{
		{"branch", fromArg + "add.u32 %w, %v, %i;\nsetp.lt.u32 %c, %i, %w;\n@%c bra END;\nEND:",
			unknownArg(), "the branch depends on argument n"},
		{"guard", fromArg + "setp.lt.u32 %c, %i, %v;\n@%c st.global.u32 [%p], %i;", unknownArg(),
			"the guard of st depends on argument n"},
		{"buffer", fromBuf + "setp.eq.u32 %c, %v, 0;\n@%c bra END;\nEND:", unknownBuffer(),
			"the branch depends on the contents of in"},
		{"address", fromBuf + "mad.wide.u32 %q, %v, 4, %o;\nld.global.u32 %w, [%q];", unknownBuffer(),
			"the address of this read depends on the contents of in"},
		{"atomic address", fromBuf + "mad.wide.u32 %q, %v, 4, %o;\nred.global.add.u32 [%q], 1;",
			unknownBuffer(), "the address of this reduction depends on"},
		{"through memory",
			fromBuf +
				"st.global.u32 [%p], %v;\nld.global.u16 %h, [%p+2];\nsetp.eq.u16 %c, %h, 0;\n@%c bra END;\nEND:", unknownBuffer(), "the branch depends on the contents of in"},
		{"through shared",
			".shared .align 4 .b8 buf[4];\n" + fromArg +
				"st.shared.u32 [buf], %v;\nbar.sync 0;\nld.shared.u32 %w, [buf];\nsetp.eq.u32 %c, %w, 0;\n@%c trap;", unknownArg(), "the guard of trap depends on argument n"},
		{"through local",
			".local .align 4 .b8 loc[4];\n" + fromArg +
				"st.local.u32 [loc], %v;\nld.local.u32 %w, [loc];\nsetp.eq.u32 %c, %w, 0;\n@%c trap;",
			unknownArg(), "depends on"},
		{"barrier", fromArg + "bar.sync %v;", unknownArg(), "the barrier's number depends on argument n"},
		{"count", fromArg + "bar.sync 0, %v;", unknownArg(),
			"the barrier's thread count depends on argument n"},
		{"shuffle",
			fromBuf +
				"mov.u32 %v, %i;\n@%d bra END;\nld.global.u32 %v, [%x];\nshfl.sync.idx.b32 %w, %v, 0, 31, 0xffffffff;\nsetp.eq.u32 %c, %w, 0;\n@%c trap;\nEND:", unknownBuffer(), "the contents of in"},
		{"vote", fromArg + "setp.eq.u32 %c, %v, 0;\nvote.sync.any.pred %d, %c, 0xffffffff;\n@%d trap;",
			unknownArg(), "depends on argument n"},
		{"members", fromArg + "bar.warp.sync %v;", unknownArg(),
			"the member mask of bar.warp.sync depends on argument n"},
		{"swap", fromBuf + "atom.global.cas.b32 %w, [%x], 0, 1;", unknownBuffer(),
			"whether this compare-and-swap succeeds depends on the contents of in"},
		{"atomic result", "atom.global.add.u32 %w, [%x], 1;\nsetp.eq.u32 %c, %w, 0;\n@%c trap;",
			unknownBuffer(), "the contents of in"},
		{"wide half", "ld.global.u64 %q, [%x];\nmov.b64 {%v, %w}, %q;\nsetp.eq.u32 %c, %w, 0;\n@%c trap;",
			unknownBuffer(), "the contents of in"},
		{"selected",
			fromArg + "setp.lt.u32 %c, %i, 3;\nselp.u32 %w, %v, 5, %c;\nsetp.eq.u32 %d, %w, 0;\n@%d trap;",
			unknownArg(), "argument n"},
		{"carry",
			fromArg + "add.cc.u32 %w, %v, 1;\naddc.u32 %w, 0, 0;\nsetp.eq.u32 %d, %w, 0;\n@%d trap;",
			unknownArg(), "depends on"},
		{"predicates",
			fromArg + "setp.eq.u32 %c, %v, 0;\nsetp.lt.u32 %d, %i, 16;\nand.pred %e, %c, %d;\n@%e trap;",
			unknownArg(), "argument n"},
	} {
		cfg := config(1, 32, buffer("out", 4096), test.arg)
		_, res, _ := start(t, kernel(t, "setp.ne.u32 %d, %i, %i;\n"+test.text+"\nret;"), cfg, Options{})
		s := res.Stop
		if s == nil || s.Kind != DependsOnInput || !strings.Contains(s.Message, test.message) {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
}

// Unknown values may flow through data, and independent computation continues: a result that no
// value of the input can change is known.
func TestUnknownFlows(t *testing.T) {
	for _, test := range []struct {
		name, text string
		known      bool
		want       uint32
	}{
		{"sum", "add.u32 %w, %v, 1;", false, 0},
		{"and 0", "mov.u32 %w, 0;\nand.b32 %w, %v, %w;", true, 0},
		{"and 1", "mov.u32 %w, 1;\nand.b32 %w, %v, %w;", false, 0},
		{"or ones", "mov.u32 %w, -1;\nor.b32 %w, %w, %v;", true, 0xffffffff},
		{"times 0", "mov.u32 %w, 0;\nmad.lo.u32 %w, %v, %w, 7;", true, 7},
		// NaN, infinity
		{"float times 0",
			"mov.f32 %f, 0f00000000;\nmov.b32 %g, %v;\nmul.f32 %f, %f, %g;\nmov.b32 %w, %f;", false, 0},
		{"xor itself", "xor.b32 %w, %v, %v;", true, 0},
		{"minus itself", "sub.u32 %w, %v, %v;", true, 0},
		{"other of selp", "setp.ge.u32 %c, %i, 0;\nselp.u32 %w, 9, %v, %c;", true, 9},
		{"unknown selp", "setp.eq.u32 %c, %v, 0;\nselp.u32 %w, 9, 9, %c;", false, 0},
		{"and false",
			"setp.eq.u32 %c, %v, 0;\nsetp.ne.u32 %d, %i, %i;\nand.pred %e, %c, %d;\nselp.u32 %w, 1, 2, %e;",
			true, 2},
		{"or true",
			"setp.eq.u32 %c, %v, 0;\nsetp.eq.u32 %d, %i, %i;\nor.pred %e, %c, %d;\nselp.u32 %w, 1, 2, %e;",
			true, 1},
		{"overwritten", "mov.u32 %w, %v;\nmov.u32 %w, 3;", true, 3},
		// a register is unknown as a whole
		{"low half", "mov.b64 %q, {%i, %v};\nmov.b64 {%w, %u}, %q;", false, 0},
		{"known neighbour",
			"st.global.u32 [%p+256], %v;\nst.global.u16 [%p+256], 7;\nld.global.u16 %h, [%p+256];\ncvt.u32.u16 %w, %h;", true, 7},
		{"exchanged",
			"st.global.u32 [%p+256], %v;\natom.global.exch.b32 %u, [%p+256], 4;\nld.global.u32 %w, [%p+256];", true, 4},
	} {
		cfg := config(1, 32, buffer("out", 4096), unknownArg())
		res,
			r := completed(t,
			kernel(t, "ld.param.u32 %v, [x];\n"+test.text+"\nst.global.u32 [%p], %w;\nret;"), cfg,
			Options{})
		b := make([]byte, 4)
		known, err := res.Read("out", 20, b)
		if err != nil || known != test.known {
			t.Errorf("%s: known %t, want %t (%v)", test.name, known, test.known, err)
		}
		if v := words(t, res, "out", 6)[5]; known && v != test.want {
			t.Errorf("%s: %d, want %d", test.name, v, test.want)
		}
		// No two unknown values may look equal to the detector.
		as := of[access](r)
		last, seen := as[len(as)-1], map[uint64]bool{}
		for _, v := range last.Data[0] {
			seen[v] = true
		}
		if !known && len(seen) != 32 || known && len(seen) != 1 {
			t.Errorf("%s: %d different values stored", test.name, len(seen))
		}
	}
}

// Parameters of functions carry unknown bits in memory and in registers.
func TestUnknownThroughCalls(t *testing.T) {
	for _, test := range []struct {
		name, text string
		known      bool
	}{
		{"memory",
			"{ .param .b32 a; .param .b32 b;\nst.param.b32 [a], %w;\ncall (b), early, (a);\nld.param.b32 %v, [b]; }", false},
		{"register", "call (%v), twice, (%w);", false},
		{"known", "call (%v), twice, (%i);", true},
	} {
		k := module(t, callKernel("ld.param.u32 %w, [x];\n"+test.text))
		_, res, _ := start(t, k, config(1, 32, buffer("out", 128), unknownArg()), Options{})
		if test.name == "memory" { // early branches on its argument
			if res.Stop == nil || res.Stop.Kind != DependsOnInput {
				t.Errorf("memory: %+v", res.Stop)
			}
			continue
		}
		if known, err := res.Read("out", 0, make([]byte, 128)); err != nil || known != test.known {
			t.Errorf("%s: known %t, %v", test.name, known, err)
		}
	}
}
