package isa

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

type listed struct{ name, section string }

// readList reads testdata/opcodes.txt.
func readList(t *testing.T) []listed {
	t.Helper()
	f, err := os.Open("testdata/opcodes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []listed
	s := bufio.NewScanner(f)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		name, section, ok := strings.Cut(s.Text(), " ")
		if !ok {
			t.Fatalf("line %q: name and section expected", s.Text())
		}
		out = append(out, listed{name, section})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Every instruction of the ISA text has a row that cites its section.
func TestEveryOpcodeHasARow(t *testing.T) {
	list := readList(t)
	if len(list) < 200 {
		t.Fatalf("the list has %d instructions only", len(list))
	}
	for _, l := range list {
		w := strings.Split(l.name, ".")
		row := Lookup(w[0], w[1:])
		switch {
		case row == nil:
			t.Errorf("%s (PTX ISA %s) has no row", l.name, l.section)
		case !slices.Contains(row.Sections(), l.section):
			t.Errorf("%s: row %s cites sections %v, not %s", l.name, row.Opcode, row.Sections(), l.section)
		}
	}
}

// Every row, and every section that it cites, is in the ISA text under a name that leads to that
// row.
func TestEveryRowIsInTheISA(t *testing.T) {
	names := make(map[listed]bool) // row opcode and section
	for _, l := range readList(t) {
		w := strings.Split(l.name, ".")
		if row := Lookup(w[0], w[1:]); row != nil {
			names[listed{row.Opcode, l.section}] = true
		}
	}
	for row := range Rows() {
		for _, s := range row.Sections() {
			opcode := row.Opcode
			switch opcode {
			case "fence.proxy.async::generic":
				opcode = "fence.proxy"
			case "fence.proxy.alias", "fence.proxy.async", "membar.proxy.alias", "membar.proxy.async":
				opcode = opcode[:strings.LastIndex(opcode, ".")] // the plain forms, which have rows of their own
			case "fence.sync_restrict", "ld.shared::cluster", "st.shared::cluster", "atom.shared::cluster",
				"red.shared::cluster", "cvta.shared::cluster", "isspacep.shared::cluster":
				opcode, _, _ = strings.Cut(opcode, ".") // a form that has a row of its own
			case "tcgen05.ld.red":
				opcode = "tcgen05.ld"
			case "mov.vec": // in examples only
				continue
			}
			if !names[listed{opcode, s}] {
				t.Errorf("row %s cites section %s, which is not on the list", row.Opcode, s)
			}
		}
	}
}

func TestRowsAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for row := range Rows() {
		if seen[row.Opcode] {
			t.Errorf("two rows for %s", row.Opcode)
		}
		seen[row.Opcode] = true
		if row.Executable && row.forms == nil && !loose(row) {
			t.Errorf("%s is executable, but its modifiers are not known", row.Opcode)
		}
		if !slices.Equal(row.Roles, orderedRoles(row.Roles)) {
			t.Errorf("%s: destinations come first in the text: %v", row.Opcode, row.Roles)
		}
		if got := Lookup(lookupWords(row)); got != row {
			t.Errorf("%s: Lookup leads elsewhere: %v", row.Opcode, got)
		}
	}
}

// loose reports whether the modifiers of an executable row are not checked here: whoever executes
// it decodes them (Desc.Matrix, alu.Video), or they do not matter, as the result is unknown or a
// hint.
func loose(row *Row) bool {
	switch row.Category {
	case Matrix, Video, Texture:
		return true
	}
	return row.Opcode == "createpolicy"
}

// orderedRoles returns roles with destinations first.
func orderedRoles(roles []Role) []Role {
	out := slices.Clone(roles)
	rank := func(r Role) int {
		if r == Dst || r == DstPred {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b Role) int { return rank(a) - rank(b) })
	return out
}

// lookupWords returns an opcode and modifiers that choose the row.
func lookupWords(row *Row) (string, []string) {
	w := strings.Split(row.Opcode, ".")
	if row.If != nil {
		return w[0], row.If[:1]
	}
	return w[0], w[1:]
}

// Effects follow from what the ISA text says that an opcode does: spot checks of the classes.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		name     string
		category Category
		effect   Effect
	}{
		{"add", Arith, NoEffect},
		{"ld", Memory, Reads},
		{"st", Memory, Writes},
		{"atom", Memory, ReadsWrites},
		{"red", Memory, ReadsWrites},
		{"cp.async", Async, Copies},
		{"cp.async.bulk.tensor", Async, Copies},
		{"bar", Barrier, Orders},
		{"bar.warp.sync", WarpOp, Orders},
		{"shfl", WarpOp, NoEffect}, // orders no memory
		{"fence", FenceCat, Orders},
		{"fence.proxy", FenceCat, Orders},
		{"mbarrier.arrive", Barrier, ReadsWrites},
		{"ldmatrix", Matrix, Reads},
		{"stmatrix", Matrix, Writes},
		{"tex", Texture, Reads},
		{"bra", Control, NoEffect},
		{"alloca", Stack, NoEffect},
		{"vadd4", Video, NoEffect},
		{"nanosleep", Misc, NoEffect},
		{"cvta", Address, NoEffect},
	} {
		w := strings.Split(c.name, ".")
		row := Lookup(w[0], w[1:])
		if row == nil || row.Opcode != c.name || row.Category != c.category || row.Effect != c.effect {
			t.Errorf("%s: got %+v, want %v, %v", c.name, row, c.category, c.effect)
		}
	}
}

func TestLookupOfSeveralWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"bar.sync", "bar"},
		{"bar.cta.sync", "bar"},
		{"bar.warp.sync", "bar.warp.sync"},
		{"barrier.sync.aligned", "barrier"},
		{"barrier.cluster.arrive.release", "barrier.cluster.arrive"},
		{"cp.async.ca.shared.global", "cp.async"},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "cp.async.bulk"},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", "cp.async.bulk.tensor"},
		{"cp.async.bulk.wait_group.read", "cp.async.bulk.wait_group"},
		{"cp.async.mbarrier.arrive.noinc.shared.b64", "cp.async.mbarrier.arrive"},
		{"mbarrier.arrive.expect_tx.shared.b64", "mbarrier.arrive"},
		{"fence.proxy.async", "fence.proxy.async"},
		{"fence.proxy.async.shared::cta", "fence.proxy.async"},
		{"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
			"fence.proxy.async::generic"},
		{"fence.proxy.tensormap::generic.release.gpu", "fence.proxy"},
		{"fence.proxy.alias", "fence.proxy.alias"},
		{"fence.mbarrier_init.release.cluster", "fence.mbarrier_init"},
		{"fence.acquire.sync_restrict::shared::cluster.cluster", "fence.sync_restrict"},
		{"membar.proxy.alias", "membar.proxy.alias"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma"},
		{"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sp"},
		{"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "mma.sp"},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma.mma_async"},
		{"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "wgmma.mma_async.sp"},
		{"tcgen05.mma.ws.sp.cta_group::1.kind::f16", "tcgen05.mma.ws.sp"},
		{"tcgen05.fence::after_thread_sync", "tcgen05.fence"},
		{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32", "st.async"},
		{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32", "red.async"},
		{"ld.shared::cta.u32", "ld"},
		{"ld.shared::cluster.u32", "ld.shared::cluster"},
		{"atom.relaxed.cluster.shared::cluster.add.u32", "atom.shared::cluster"},
		{"mov.b64", "mov"},
		{"mov.v4.f32", "mov.vec"},
	} {
		w := strings.Split(c.text, ".")
		switch row := Lookup(w[0], w[1:]); {
		case row == nil:
			t.Errorf("%s: no row", c.text)
		case row.Opcode != c.want:
			t.Errorf("%s: row %s, want %s", c.text, row.Opcode, c.want)
		}
	}
}
