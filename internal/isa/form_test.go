package isa

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/event"
)

// spell writes one instance of a form, with the lowest or the highest value of each set.
func spell(f *form, row *Row, pick func(set) uint8) []string {
	var mods []string
	add := func(s string) {
		if s != "" {
			mods = append(mods, s)
		}
	}
	add(Cmp(pick(f.cmps)).String())
	if o := pick(f.orders); o != 0 {
		add(event.Order(o - 1).String())
	}
	add(event.Scope(pick(f.scopes)).String())
	space := event.Space(pick(f.spaces))
	if space == event.Shared && row.If != nil {
		add("shared::cluster")
	} else {
		add(space.String())
	}
	for i, n := range flagNames {
		if f.must>>i&1 != 0 {
			add(n)
		}
	}
	marks := []string{"clamp", "red", "cta", "abs", "weak", "cg", "L2::evict_last", "L2::cache_hint", "L2::64B", "L2",
		"tensormap", "mask", "gl", "global", "launch_dependents", "L2", "expect_tx", "noComplete", "parity",
		"noinc", "read", "shared::cta", "mbarrier::complete_tx::bytes", "bulk_group", "multicast::cluster",
		"cp_mask", "async", "multicast::cluster::all", "is_canceled", "get_first_ctaid",
		"get_first_ctaid::y", "acc::f32", "sync_restrict::shared::cta",
		"sync_restrict::shared::cluster"}
	for i, n := range marks {
		if f.mustMarks>>i&1 != 0 {
			add(n)
		}
	}
	add(Fn(pick(f.fns)).String())
	add(Rounding(pick(f.rounds)).String())
	if v := pick(f.vecs); v != 0 {
		add([]string{2: "v2", 4: "v4", 8: "v8"}[v])
	}
	for _, s := range []set{f.types, f.stypes, f.third} {
		switch t := Type(pick(s)); t {
		case OtherType:
			add("e2m1x2")
			if row.Opcode == "cvt.pack" {
				mods[len(mods)-1] = "u4"
			}
		default:
			add(t.String())
		}
	}
	return mods
}

func lowest(s set) uint8 {
	for v := uint8(1); v < 64; v++ {
		if s.has(v) {
			return v
		}
	}
	return 0
}

func highest(s set) uint8 {
	for v := uint8(63); v > 0; v-- {
		if s.has(v) {
			return v
		}
	}
	return 0
}

// Every form of every row can be written, decodes to that row, and cites the form's section.
func TestEveryFormDecodes(t *testing.T) {
	n := 0
	for row := range Rows() {
		w := strings.Split(row.Opcode, ".")
		if row.If != nil {
			w = w[:1]
		}
		if row.forms == nil {
			mods := w[1:]
			if row.If != nil {
				mods = row.If[:1]
			}
			if d, err := Decode(w[0], mods); err != nil || d.Row != row {
				t.Errorf("%s: %v, %v", row.Opcode, d.Row, err)
			}
			continue
		}
		for i := range row.forms {
			f := &row.forms[i]
			if row.If != nil && row.If[0] == "shared::cluster" && !f.spaces.has(uint8(event.Shared)) {
				continue
			}
			for _, pick := range []func(set) uint8{lowest, highest} {
				if row.If != nil && f.spaces.has(uint8(event.Shared)) {
					inner := pick
					pick = func(s set) uint8 {
						if s == f.spaces {
							return uint8(event.Shared)
						}
						return inner(s)
					}
				}
				mods := append(slices.Clone(w[1:]), spell(f, row, pick)...)
				d, err := Decode(w[0], mods)
				section := row.Section
				if f.section != "" {
					section = f.section
				}
				switch {
				case err != nil:
					t.Errorf("%s form %d: %s.%s: %v", row.Opcode, i, w[0], strings.Join(mods, "."), err)
				case d.Row != row:
					t.Errorf("%s form %d: %s.%s: row %s", row.Opcode, i, w[0], strings.Join(mods, "."), d.Row.Opcode)
				case d.Section != section:
					t.Errorf("%s form %d: %s.%s: section %s, want %s", row.Opcode, i, w[0], strings.Join(mods, "."), d.Section, section)
				}
				n++
			}
		}
	}
	if n < 400 {
		t.Errorf("only %d instances", n)
	}
}

// The order of modifiers says nothing, but for the types: ptxas accepts div.ftz.rn.f32, and
// compilers differ in where they write the scope of an atom.
func TestOrderOfModifiersIsFree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{
		"div.rn.ftz.f32", "atom.acquire.gpu.global.add.u32", "shfl.sync.down.b32", "ld.relaxed.sys.global.v2.u32",
		"setp.lt.and.ftz.f32", "cvt.rn.ftz.sat.f32.f64",
	} {
		w := strings.Split(text, ".")
		want, err := Decode(w[0], w[1:])
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			mods := slices.Clone(w[1:])
			rng.Shuffle(len(mods), func(i, j int) { mods[i], mods[j] = mods[j], mods[i] })
			if slices.Index(mods, "f32") > slices.Index(mods, "f64") && slices.Contains(mods, "f64") {
				continue
			}
			got, err := Decode(w[0], mods)
			if err != nil {
				t.Fatalf("%s.%s: %v", w[0], strings.Join(mods, "."), err)
			}
			got.Mods, want.Mods, got.Row = nil, nil, want.Row
			if d := cmp.Diff(want, got, cmp.Comparer(func(a, b *Row) bool { return a == b })); d != "" {
				t.Errorf("%s.%s: %s", w[0], strings.Join(mods, "."), d)
			}
		}
	}
}

// Every name is unique within its enumeration, and every enumeration fits a set.
func TestNames(t *testing.T) {
	check := func(what string, names []string) {
		if len(names) > 64 {
			t.Errorf("%s: %d values do not fit a set", what, len(names))
		}
		seen := make(map[string]bool)
		for i, n := range names {
			if (n == "") != (i == 0) || seen[n] {
				t.Errorf("%s %d: name %q", what, i, n)
			}
			seen[n] = true
		}
	}
	check("Rounding", roundingNames[:])
	check("Cmp", cmpNames[:])
	check("Fn", fnNames[:])
	var types []string
	for i := range typeTable {
		types = append(types, typeTable[i].name)
	}
	check("Type", types)
	for f, want := range map[Flag]string{FTZ | Sat: "ftz.sat", SyncMask: "sync", Abs: "abs", NaNProp | XorSign: "NaN.xorsign",
		ToSpace: "to", Warp: "warp", MMIO: "mmio", 0: ""} {
		if f.String() != want {
			t.Errorf("Flag %d: %q, want %q", uint32(f), f.String(), want)
		}
	}
	if got := Fn(200).String() + Cmp(200).String() + Rounding(200).String() + Category(200).String(); got != "????" {
		t.Errorf("values out of range print %q", got)
	}
	for _, n := range []string{"u32", "pred", "bf16x2", "texref", "b128", "e4m3x2"} {
		if typ, ok := TypeOf(n); !ok || typ.String() != n {
			t.Errorf("TypeOf(%q) = %v, %v", n, typ, ok)
		}
	}
	if _, ok := TypeOf("u33"); ok {
		t.Error("TypeOf knows u33")
	}
}

// Decode gives a Desc or a *DecodeError for any text, and what it decodes it decodes again.
func FuzzDecode(f *testing.F) {
	for row := range Rows() {
		w := strings.Split(row.Opcode, ".")
		for i := range row.forms {
			f.Add(w[0] + "." + strings.Join(spell(&row.forms[i], row, lowest), "."))
		}
		f.Add(row.Opcode)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := strings.Split(text, ".")
		d, err := Decode(w[0], w[1:])
		if err != nil {
			if _, ok := err.(*DecodeError); !ok || err.Error() == "" || d.Row != nil {
				t.Fatalf("%q: %v, %v", text, d, err)
			}
			return
		}
		if d.Row == nil || d.Section == "" || d.Vec == 0 || d.Text() != text {
			t.Fatalf("%q: %+v", text, d)
		}
		if d.Row.Executable && d.Row.Category == Memory && (d.Order == event.Weak) != (d.Scope == event.NoScope) {
			t.Fatalf("%q: order %v with scope %v", text, d.Order, d.Scope)
		}
		for _, s := range []string{d.Type.String(), d.SType.String(), d.Fn.String(), d.Cmp.String(), d.Round.String(), d.Flags.String()} {
			if strings.Contains(s, "?") && d.Type != OtherType && d.SType != OtherType {
				t.Fatalf("%q: prints %q", text, s)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var insts [][]string
	for _, s := range []string{
		"ld.param.u64", "cvta.to.global.u64", "mov.u32", "mad.lo.s32", "setp.ge.s32", "bra", "mul.wide.u32", "add.s64",
		"ld.global.v4.f32", "fma.rn.f32", "st.shared.f32", "bar.sync", "atom.acquire.gpu.global.cas.b32", "shfl.sync.down.b32",
		"cvt.rn.f32.f64", "ret",
	} {
		insts = append(insts, strings.Split(s, "."))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w := insts[i&15]
		i++
		if _, err := Decode(w[0], w[1:]); err != nil {
			b.Fatal(err)
		}
	}
}
