package slice

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// roles slices a kernel body and returns "role opcode" for every instruction that is not skipped.
func roles(t *testing.T, body string, opt Options) (*Slice, []string) {
	t.Helper()
	text := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u32 n)\n{\n" +
		"\t.reg .pred %p<8>;\n\t.reg .b32 %r<16>;\n\t.reg .b64 %d<8>;\n\t.reg .f32 %f<8>;\n\t.shared .align 4 .b8 s[256];\n" +
		"\t.local .align 4 .b8 loc[4];\n" + body + "}\n"
	set := source.NewSet()
	file, err := set.Add("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	k := m.Kernel("k")
	s := Of(k, opt)
	var out []string
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if r := s.Role(k, in); r != Skip {
				out = append(out, [...]string{"", "run", "touch", "unknown", "join"}[r]+" "+in.Text())
			}
		}
	}
	return s, out
}

const address = "\tmov.u32 %r1, %tid.x;\n\tmad.lo.u32 %r2, %r1, 4, 0;\n"

func TestRoles(t *testing.T) {
	at := []string{"run mov.u32", "run mad.lo.u32"}
	load := "\tld.param.u64 %d1, [in];\n\tld.global.f32 %f1, [%d1];\n"
	cases := []struct {
		name, body string
		want       []string
		track      bool
	}{
		{"data are left out, addresses stay", address + load + "\tadd.f32 %f2, %f1, %f1;\n\tst.shared.f32 [%r2], %f2;\n\tret;\n",
			append(slices.Clone(at), "touch st.shared.f32", "run ret"), false},
		{"an input that decides a shared address is unknown", load + "\tcvt.rzi.u32.f32 %r3, %f1;\n\tst.shared.u32 [%r3], 1;\n\tret;\n",
			[]string{"unknown ld.global.f32", "run cvt.rzi.u32.f32", "touch st.shared.u32", "run ret"}, true},
		{"what is loaded from shared memory for an address makes what is stored needed",
			address + "\tst.shared.u32 [%r2], %r1;\n\tbar.sync 1, 64;\n\tld.shared.u32 %r4, [%r2];\n\tst.shared.u32 [%r4], 1;\n\tret;\n",
			append(slices.Clone(at), "run st.shared.u32", "run bar.sync", "run ld.shared.u32", "run st.shared.u32", "run ret"), true},
		{"a branch without effect is passed by", load + "\tsetp.gt.f32 %p1, %f1, 0f00000000;\n\t@%p1 bra a;\n\tst.global.f32 [%d1], %f1;\na:\n\tbar.sync 1, 64;\n\tret;\n",
			[]string{"join bra", "run bar.sync", "run ret"}, false},
		{"a branch around a barrier counts", "\tld.param.u32 %r3, [n];\n\tsetp.eq.u32 %p1, %r3, 0;\n\t@%p1 bra a;\n\tbar.sync 1, 64;\na:\n\tret;\n",
			[]string{"run ld.param.u32", "run setp.eq.u32", "run bra", "run bar.sync", "run ret"}, true},
		{"what comes behind an early return depends on it", "\tmov.u32 %r1, %tid.x;\n\tsetp.gt.u32 %p1, %r1, 31;\n\t@%p1 ret;\n\tbar.sync 1, 32;\n\tret;\n",
			[]string{"run mov.u32", "run setp.gt.u32", "run ret", "run bar.sync", "run ret"}, false},
		{"the result of an atomic depends on the order", "\tatom.shared.add.u32 %r3, [s], 4;\n\tst.shared.u32 [%r3], 1;\n\tret;\n",
			[]string{"unknown atom.shared.add.u32", "touch st.shared.u32", "run ret"}, true},
		{"an atomic whose result decides nothing", "\tatom.shared.add.u32 %r3, [s], 4;\n\tret;\n",
			[]string{"touch atom.shared.add.u32", "run ret"}, false},
		{"assertions are taken to hold", load + "\tsetp.gt.f32 %p1, %f1, 0f00000000;\n\t@%p1 bra a;\n\ttrap;\na:\n\tbar.sync 1, 64;\n\tret;\n",
			[]string{"join bra", "run trap", "run bar.sync", "run ret"}, false},
		{"a guarded one too", load + "\tsetp.gt.f32 %p1, %f1, 0f00000000;\n\t@%p1 trap;\n" +
			"\tbar.sync 1, 64;\n\tret;\n", []string{"run bar.sync", "run ret"}, false},
		{"what is stored on the way to one is not loaded elsewhere", load +
			"\tsetp.gt.f32 %p1, %f1, 0f00000000;\n\t@%p1 bra a;\n\tst.local.f32 [loc], %f1;\n\ttrap;\na:\n" +
			"\tld.local.u32 %r4, [loc];\n\tst.shared.u32 [%r4], 1;\n\tret;\n", []string{"join bra",
			"run trap", "run ld.local.u32", "touch st.shared.u32", "run ret"}, true},
		// A thread may race, or access what is out of bounds, before it reaches a trap.
		{"an access to shared memory in front of one is checked", load +
			"\tsetp.gt.f32 %p1, %f1, 0f00000000;\n\t@%p1 bra a;\n\tst.shared.f32 [s], %f1;\n\ttrap;\na:\n" +
			"\tret;\n", []string{"unknown ld.global.f32", "run setp.gt.f32", "run bra",
			"touch st.shared.f32", "run trap", "run ret"}, true},
		{"one that depends on the thread alone", "\tmov.u32 %r1, %tid.x;\n" +
			"\tsetp.gt.u32 %p1, %r1, 31;\n\t@%p1 bra a;\n\tbar.sync 1, 32;\na:\n\t@%p1 trap;\n" +
			"\tret;\n", []string{"run mov.u32", "run setp.gt.u32", "run bra", "run bar.sync",
			"run trap", "run ret"}, false},
	}
	for _, c := range cases {
		s, got := roles(t, c.body, Options{})
		if !slices.Equal(got, c.want) || s.Track != c.track {
			t.Errorf("%s: track %v\n got %s\nwant %s", c.name, s.Track, strings.Join(got, "; "), strings.Join(c.want, "; "))
		}
	}
}

// TestStrong: a strong access to shared memory counts if its value is in the slice. Then the value
// decides what the trace does, and another execution may have another one.
func TestStrong(t *testing.T) {
	const kernel = "\tST [s], 4;\n\tbar.sync 0;\n\tLD %r3, [s];\n\tst.shared.u32 [%r4], 1;\n\tret;\n"
	for _, c := range []struct {
		store, load, address string
		want                 bool
	}{
		{"st.volatile.shared.u32", "ld.volatile.shared.u32", "%r3", true},
		{"st.volatile.shared.u32", "ld.shared.u32", "%r3", true},
		{"st.shared.u32", "ld.relaxed.cta.shared.u32", "%r3", true},
		{"st.shared.u32", "ld.shared.u32", "%r3", false},
		{"st.volatile.shared.u32", "ld.volatile.shared.u32", "8", false}, // it decides nothing
	} {
		s, _ := roles(t, strings.NewReplacer("ST", c.store, "LD", c.load, "%r4", c.address).
			Replace(kernel), Options{})
		if s.Strong != c.want {
			t.Errorf("%s, %s, address %s: strong %v, want %v", c.store, c.load, c.address, s.Strong, c.want)
		}
	}
}

// TestTotal: instructions that no thread reaches do not count.
func TestTotal(t *testing.T) {
	s, _ := roles(t, "\tbra a;\nb:\n\tmov.u32 %r1, 1;\n\tmov.u32 %r2, 1;\na:\n\tbar.sync 0;\n\tret;\n",
		Options{})
	if s.Total != 3 || s.Kept != 3 {
		t.Errorf("%d of %d instructions, want the 3 that are reached", s.Kept, s.Total)
	}
}

// TestOrigin: reports name what makes the result of an instruction unknown.
func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"mov.u32 %r1, %smid":       "a special register",
		"cvt.u64.u32 %d1, %smid":   "a special register",
		"add.u32 %r1, %smid, 1":    "the result of add.u32",
		"activemask.b32 %r1":       "which lanes happen to be converged",
		"ld.shared.u32 %r1, [s]":   "other threads",
		"ld.global.u32 %r1, [%d1]": "input",
		"ld.param.u64 %d1, [in];\n\tadd.s64 %d2, %d1, 4;\n\tld.global.u32 %r1, [%d2]": "argument 0 (in)",
		"mbarrier.test_wait.shared.b64 %p1, [s], %d1":                                 "whether a phase is complete",
		"mbarrier.pending_count.b64 %r1, %d1":                                         "how many arrivals",
	} {
		s, _ := roles(t, "\t"+text+";\n\tret;\n", Options{})
		k := s.order[0]
		in := k.Blocks[0].Instrs
		if got := s.Origin(k, in[len(in)-2]); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestExplore(t *testing.T) {
	diamond := "\tld.param.u32 %r3, [n];\n\tsetp.eq.u32 %p1, %r3, 0;\n\t@%p1 bra a;\n\tst.shared.u32 [s], 1;\n\tbra b;\na:\n\tMIDDLE\n\tst.shared.u32 [s+4], 1;\nb:\n\tEND\n\tret;\n"
	for _, c := range []struct {
		middle, end string
		want        bool
	}{
		{"mov.u32 %r5, 1;", "", true},
		{"bar.sync 1, 64;", "", false},
		{"exit;", "", false},
		{"add.cc.u32 %r5, %r5, 1;", "st.shared.u32 [%r5], 1;", true}, // no address needs the carry
		// the carry is no register that the paths could be merged on (Region.Regs)
		{"add.cc.u32 %r5, %r5, 1;", "addc.u32 %r6, 0, 0;\n\tst.shared.u32 [%r6], 1;", false},
	} {
		body := strings.NewReplacer("MIDDLE", c.middle, "END", c.end).Replace(diamond)
		s, _ := roles(t, body, Options{})
		k := s.order[0]
		var b ir.BlockID
		for _, block := range k.Blocks {
			if l := block.Last(); l != nil && l.Op() == "bra" && l.Guard != ir.NoReg {
				b = block.ID
			}
		}
		if _, got := s.Explore(k, b); got != c.want {
			t.Errorf("with %q on one path and %q after it: explored %v, want %v", c.middle, c.end, got,
				c.want)
		}
	}
}

// A trace holds for every block if the index of the block decides nothing in it, and for every grid
// if the size of the grid does not (Slice.BlockIndex, Slice.GridSize).
func TestLaunchValues(t *testing.T) {
	for _, c := range []struct {
		value, address  string
		block, gridSize bool
	}{
		{"%tid.x", "%r2", false, false},
		{"%ctaid.y", "%r2", true, false},
		{"%nctaid.z", "%r2", false, true},
		{"%ctaid.y", "%r1", false, false}, // it decides what is stored, not where
	} {
		s, _ := roles(t, "\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, "+c.value+
			";\n\tst.shared.u32 ["+c.address+"], %r2;\n\tret;\n", Options{Grid: true})
		if s.BlockIndex != c.block || s.GridSize != c.gridSize {
			t.Errorf("%s, address %s: reads the index of the block: %v, the size of the grid: %v",
				c.value, c.address, s.BlockIndex, s.GridSize)
		}
	}
}

// An exchange among unnamed lanes needs lock step only if its result is in the slice.
func TestMaskless(t *testing.T) {
	for _, c := range []struct{ op, address, want string }{
		{"shfl.up.b32 %r3, %r1, 1, 0", "%r3", "shfl.up.b32"},
		{"shfl.up.b32 %r3, %r1, 1, 0", "%r1", ""},
		{"shfl.sync.up.b32 %r3, %r1, 1, 0, -1", "%r3", ""},
		{"activemask.b32 %r3", "%r3", ""},
		{"add.u32 %r3, %r1, 4", "%r3", ""},
	} {
		s, _ := roles(t, "\tmov.u32 %r1, %tid.x;\n\t"+c.op+";\n\tst.shared.u32 ["+c.address+
			"], 1;\n\tret;\n", Options{Lockstep: true})
		got := ""
		if in := s.Maskless(); in != nil {
			got = in.Text()
		}
		if got != c.want {
			t.Errorf("%s, address %s: %q, want %q", c.op, c.address, got, c.want)
		}
	}
}

// TestUnwritten: a register that a path reads before it is written is found wherever the blocks of
// the path stand in the text.
func TestUnwritten(t *testing.T) {
	for _, c := range []struct{ what, body, want string }{
		{"a jump back", "\tbra b;\na:\n\tst.shared.u32 [%r5], 1;\n\tret;\nb:\n\tbra a;\n", "%r5"},
		{"written on the way", "\tbra b;\na:\n\tst.shared.u32 [%r5], 1;\n\tret;\nb:\n" +
			"\tmov.u32 %r5, 0;\n\tbra a;\n", ""},
		{"written where the guard holds", "\tmov.u32 %r1, %tid.x;\n\tsetp.eq.u32 %p1, %r1, 0;\n" +
			"\t@%p1 mov.u32 %r5, 0;\n\tst.shared.u32 [%r5], 1;\n\tret;\n", "%r5"},
	} {
		s, _ := roles(t, c.body, Options{})
		k := s.order[0]
		var got []string
		for _, r := range s.Unwritten(k) {
			got = append(got, k.Regs[r].Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q are read before they are written, want %q", c.what, got, c.want)
		}
	}
}

// A shuffle among the lanes that happen to be active waits for nobody; one whose mask names lanes
// does (PTX ISA 9.7.9.6).
func TestShuffleOfActive(t *testing.T) {
	for mask, want := range map[string]string{
		"activemask.b32 %r2":  "run ret",
		"mov.u32 %r2, %tid.y": "run mov.u32; run shfl.sync.bfly.b32; run ret",
		"mov.u32 %r6, %tid.y": "run shfl.sync.bfly.b32; run ret", // the mask is written nowhere
	} {
		_, got := roles(t, "\tmov.u32 %r1, %tid.x;\n\t"+mask+";\n"+
			"\tshfl.sync.bfly.b32 %r3, %r1, 1, 31, %r2;\n\tret;\n", Options{})
		if all := strings.Join(got, "; "); all != want {
			t.Errorf("%s: %s, want %s", mask, all, want)
		}
	}
}

// A vote gets the predicates of all lanes of its mask, wherever they vote (PTX ISA 9.7.13.7): what
// the others put in is needed, and nothing else.
func TestExchange(t *testing.T) {
	for mask, want := range map[string]string{
		"-1": "run mov.u32; run setp.lt.u32; run setp.eq.u32; run bra; run vote.sync.any.pred; run bra; " +
			"run setp.ne.u32; run vote.sync.any.pred; run bra; run bar.sync; run ret",
		"0xffff": "run mov.u32; run setp.lt.u32; run bra; run vote.sync.any.pred; run bra; " +
			"run setp.ne.u32; run vote.sync.any.pred; run bra; run bar.sync; run ret",
	} {
		_, got := roles(t, "\tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 16;\n"+
			"\tsetp.eq.u32 %p3, %r1, 20;\n\tmul.lo.u32 %r5, %r1, %r1;\n\t@%p1 bra a;\n"+
			"\tvote.sync.any.pred %p4, %p3, -1;\n\tbra b;\na:\n\tsetp.ne.u32 %p5, %r1, %r1;\n"+
			"\tvote.sync.any.pred %p2, %p5, "+mask+";\nb:\n\t@%p2 bra c;\n\tbar.sync 1, 64;\nc:\n\tret;\n",
			Options{})
		if all := strings.Join(got, "; "); all != want {
			t.Errorf("mask %s: %s, want %s", mask, all, want)
		}
	}
}

// The number of a barrier and its count of threads decide who waits for whom; the predicate that
// bar.red combines does not.
func TestBarrierOperands(t *testing.T) {
	_, got := roles(t, "\tld.param.u32 %r3, [n];\n\tmov.u32 %r4, %ntid.x;\n"+
		"\tmov.u32 %r1, %tid.x;\n\tsetp.eq.u32 %p1, %r1, 0;\n"+
		"\tbar.red.popc.u32 %r5, %r3, %r4, %p1;\n\tret;\n", Options{})
	want := "run ld.param.u32; run mov.u32; run bar.red.popc.u32; run ret"
	if all := strings.Join(got, "; "); all != want {
		t.Errorf("%s, want %s", all, want)
	}
}

// What lies behind a branch into an endless loop is executed only if the branch is taken, in all
// blocks of the loop, which nothing postdominates.
func TestEndlessLoop(t *testing.T) {
	_, got := roles(t, "\tmov.u32 %r1, %tid.x;\n\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra l;\n\tret;\n"+
		"l:\n\tadd.u32 %r3, %r3, 1;\nm:\n\tbar.sync 0;\n\tbra m;\n", Options{})
	want := "run mov.u32; run setp.eq.u32; run bra; run ret; run bar.sync; run bra"
	if all := strings.Join(got, "; "); all != want {
		t.Errorf("%s, want %s", all, want)
	}
}

// TestObjects: mbarriers, bulk copies and the barrier of the cluster are objects, wherever they are
// in the kernel; named barriers are none.
func TestObjects(t *testing.T) {
	for body, want := range map[string]bool{
		"\tbar.sync 1, 64;\n\tret;\n":                            false,
		"\tmbarrier.init.shared.b64 [s], 1;\n\tret;\n":           true,
		"\tbar.sync 1, 64;\n\tbarrier.cluster.arrive;\n\tret;\n": true,
	} {
		if s, _ := roles(t, body, Options{}); s.Objects() != want {
			t.Errorf("%s: objects: %v", body, s.Objects())
		}
	}
}

// TestFold: a comparison is computed of 0 and 1 only. What else an operand may be is not known, so
// that it may be equal to a constant.
func TestFold(t *testing.T) {
	const one, other = "1", "x#1"
	for _, c := range []struct {
		op, a, b, want string
	}{
		{"eq", one, one, "1"}, {"eq", one, "0", "0"}, {"ne", one, "0", "1"}, {"ne", "0", "0", "0"},
		{"eq", other, one, ""}, {"eq", one, other, ""}, {"ne", other, "0", ""}, {"lt", "0", one, ""},
		{"eq", other, other, ""},
	} {
		_, k := roundsModule(t, "", "\tsetp."+c.op+".u32 %p1, %x1, %x2;\n\t@%p1 bra E;\n"+
			"\tbar.sync 0;\nE:\n\tret;\n")
		got, ok := fold(k.Blocks[0].Instrs[0], []string{c.a, c.b})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s of %s and %s: %q, want %q", c.op, c.a, c.b, got, c.want)
		}
	}
}

// TestUnsupported: a trace has the copies of a thread, and bulk copies within a block, also of
// tensors, and what the blocks of a cluster, or of a pair, do with each other. It has no
// matrix operations of shared memory.
func TestUnsupported(t *testing.T) {
	for text, want := range map[string]string{
		"cp.async.ca.shared.global [s], [%d1], 4":                      "",
		"cp.async.commit_group":                                        "",
		"cp.async.bulk.commit_group":                                   "",
		"cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16": "",
		"bar.sync 0":          "",
		"add.u32 %r1, %r1, 1": "",
		"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2]": "",
		"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes" +
			".multicast::cluster [s], [%d1, {%r1}], [%r2], 3": "",
		"barrier.cluster.arrive":   "",
		"wgmma.fence.sync.aligned": "",
		"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%r1, %r1, %r1, %r1}, " +
			"%d1, %d1, %r1, 0, 1, 1, 1, 0, 0": "",
		"tcgen05.wait::ld.sync.aligned":                             "",
		"tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned": "",
		"cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes" +
			" [s], [%d1, {%r1}], [%r2]": "",
		"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.cta_group::2 [%d1, {%r1}], [%r2]":      "cp.async.bulk.tensor",
		"tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale [%r1], %d1, %d1, %r1, [%r1], [%r1], %p1": "",
		"tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %d1, %d1, [%r1], %r1, %p1":                      "",
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r1, [%r2]":                 "",
		"st.async.release.gpu.global.u32 [%d1], %r1":                                                  "st.async",
		// prefetches, and changes of tensor maps that leave the sizes of boxes as they are
		"cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d1, {%r1}]":                                           "",
		"fence.proxy.tensormap::generic.acquire.gpu [%d1], 128":                                                  "",
		"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [s], %d1":                                   "",
		"tensormap.replace.tile.global_dim.global.b1024.b32 [%d1], 0, %r1":                                       "",
		"tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [s], 0, %r1":                                       "tensormap.replace of .box_dim",
		"tensormap.replace.tile.rank.global.b1024.b32 [%d1], %r1":                                                "tensormap.replace of .rank",
		"tensormap.replace.tile.global_address.b1024.b64 [%d1], %d1":                                             "tensormap.replace",
		"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [s], 128": "",
	} {
		text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n" + begin +
			"\t.shared .align 16 .b8 s[256];\n\t" + text + ";\n" + end
		set := source.NewSet()
		file, err := set.Add("k.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tree, errs := ptx.Parse(file)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		m, errs := irgen.Module(set, tree)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		in, got := Unsupported(m.Kernel("k"))
		if !strings.HasPrefix(got, want) || (in == nil) != (want == "") || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestQuietAndExchanged: which operations surely complete, whatever other threads do, and which
// give a thread a result of what others put in, by the operand that says who takes part.
func TestQuietAndExchanged(t *testing.T) {
	for _, c := range []struct {
		op    string
		quiet bool
		who   string // the text of the operand
	}{
		{"add.u32 %r3, %r1, 4", true, ""},
		{"activemask.b32 %r3", true, ""},
		{"shfl.up.b32 %r3, %r1, 1, 0", false, ""}, // among lanes that it does not name
		{"shfl.sync.up.b32 %r3, %r1, 1, 0, -1", false, "-1"},
		{"vote.sync.ballot.b32 %r3, %p1, 255", false, "255"},
		{"bar.sync 3", false, ""},
		{"bar.sync 3, 64", false, ""},
		{"bar.red.popc.u32 %r3, 3, 64, %p1", false, "3"},
		{"bar.red.popc.u32 %r3, 2, %p1", false, "2"},
	} {
		s, _ := roles(t, "\t"+c.op+";\n\tret;\n", Options{})
		f := s.funcs[s.order[0]]
		in := f.instrs[0]
		if f.quiet(in) != c.quiet {
			t.Errorf("%s: quiet %v", c.op, !c.quiet)
		}
		who, ok := exchanged(in)
		text := ""
		if ok {
			text = fmt.Sprint(int32(who.Val))
		}
		if text != c.who {
			t.Errorf("%s: who takes part is %q, want %q", c.op, text, c.who)
		}
	}
}

// TestSparseMatrices: a multiplication of sparse matrices by a warpgroup is an object as one of dense
// matrices is.
func TestSparseMatrices(t *testing.T) {
	const form, d = ".sync.aligned.m64n8k", ".f32.f16.f16 {%f0, %f1, %f2, %f3}, %d1, %d2, "
	for op, want := range map[string]kind{
		"wgmma.mma_async" + form + "16" + d + "%p1, 1, 1, 0, 0":            object,
		"wgmma.mma_async.sp" + form + "32" + d + "%r1, 0, %p1, 1, 1, 0, 0": object,
	} {
		s, _ := roles(t, "\t"+op+";\n\tret;\n", Options{})
		f := s.funcs[s.order[0]]
		if got := f.kindOf(f.instrs[0]); got != want {
			t.Errorf("%s: kind %v, want %v", op, got, want)
		}
	}
}
