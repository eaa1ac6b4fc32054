package repair

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// TestHasStrong: accesses that may conflict without a race are strong ones (PTX ISA 8.3, 8.7.1),
// and a function may have some.
func TestHasStrong(t *testing.T) {
	for body, want := range map[string]bool{
		"": false,
		"st.global.u32 [%d1], 1;\nld.shared.u32 %r1, [s];\nbar.sync 0;\n": false,
		"ld.weak.global.u32 %r1, [%d1];\n":                                false,
		"membar.gl;\nfence.acq_rel.gpu;\nbar.warp.sync -1;\n":             false, // no accesses
		"ld.volatile.global.u32 %r1, [%d1];\n":                            true,
		"ld.relaxed.gpu.global.u32 %r1, [%d1];\n":                         true,
		"st.release.gpu.global.u32 [%d1], 1;\n":                           true,
		"atom.global.add.u32 %r1, [%d1], 1;\n":                            true,
		"red.shared.add.u32 [s], 1;\n":                                    true,
		"call f, ();\n":                                                   true,
	} {
		k := kernelOf(t, modern+"\n.func f()\n{\n\tret;\n}", body)
		if got := k.Func.HasStrong(); got != want {
			t.Errorf("%q: strong accesses: %v", body, got)
		}
	}
}

// needing judges a text by the names of the stores behind which a barrier remains: stores to
// offsets 0, 4, 8 and so on are a, b, c. The text has the grade good if ok accepts them, and Buggy
// if not.
func needing(good Grade, ok func(kept string) bool) judgeFunc {
	return func(text string) *Judgement {
		kept := ""
		for i, part := range strings.Split(text, "st.global.u32 ")[1:] {
			if strings.Contains(part, "bar.sync") {
				kept += string(rune('a' + i))
			}
		}
		if ok(kept) {
			return &Judgement{Grade: good}
		}
		return &Judgement{Grade: Buggy}
	}
}

// A redundantTest is a kernel whose barriers are called a, b, c by needing.
type redundantTest struct {
	what, body string
	good       Grade
	ok         func(kept string) bool
	want       string // the stores whose barriers are redundant, in the order of the list
}

// redundantTests returns the kernels of TestFindRedundant.
func redundantTests() []redundantTest {
	const a, b, c = "st.global.u32 [%d1], 1;\nbar.sync 0;\n", "st.global.u32 [%d1+4], 1;\n" +
		"bar.sync 0;\n",
		"st.global.u32 [%d1+8], 1;\nbar.sync 0;\n"
	const loop = "L:\n" + b + "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"
	const l5, l6 = ".loc 1 5 3\n", ".loc 1 6 3\n"
	const in5 = ".loc 1 20 3, function_name F, inlined_at 1 5 3\n"
	const in6 = ".loc 1 20 3, function_name F, inlined_at 1 6 3\n"
	all := func(string) bool { return true }
	has := func(s string) func(string) bool {
		return func(kept string) bool { return strings.Contains(kept, s) }
	}
	return []redundantTest{
		{"all, the one in the loop first", a + loop + c, Verified, all, "bac"},
		{"all in the runs, which prove nothing", a + loop + c, Clean, all, "bac"},
		{"a loop's and another's can replace each other", a + loop, Verified,
			func(kept string) bool { return kept != "" }, "b"},
		{"two of equal cost can replace each other", a + b, Verified,
			func(kept string) bool { return kept != "" }, "a"},
		{"none", a + b, Verified, has("ab"), ""},
		{"the second", a + b + c, Verified, func(kept string) bool {
			return strings.HasPrefix(kept, "a") && strings.HasSuffix(kept, "c")
		}, "b"},
		{"not where the kernel is not accepted", a, Unknown, all, ""},
		{"no barrier", "st.global.u32 [%d1], 1;\n", Verified, all, ""},
		{"with strong accesses", a + "st.volatile.global.u32 [%d1+4], 1;\n", Verified, all, ""},
		{"one statement twice, of which one copy is needed", l5 + a + l5 + b, Verified, has("a"), ""},
		{"one statement twice", l5 + a + l5 + b, Verified, all, "ab"},
		{"two statements, of which one is needed", l5 + a + l6 + b, Verified, has("a"), "b"},
		{"a statement of a function at two places", in5 + a + in6 + b, Verified, has("a"), "b"},
		{"a statement of a function twice at one place", in5 + a + in5 + b, Verified, has("a"), ""},
		{"a statement as it is and inlined", ".loc 1 20 3\n" + a + in6 + b, Verified, has("a"), "b"},
		{"the same, the other way round", in6 + a + ".loc 1 20 3\n" + b, Verified, has("a"), "b"},
		{"a statement twice, another between", l5 + a + l6 + b + l5 + c, Verified, has("a"), "b"},
	}
}

// TestFindRedundant: a barrier is redundant if the kernel stays as good without it and without
// those found before. The costliest are tried first. Copies of one statement go together, since the
// source can only lose all of them.
func TestFindRedundant(t *testing.T) {
	for _, q := range redundantTests() {
		k := kernelOf(t, modern+"\n.file 1 \"k.cu\"", "F:\n"+q.body)
		before := Barriers(k.Func)
		list, patch, err := FindRedundant(t.Context(), k, needing(q.good, q.ok), Options{})
		if err != nil {
			t.Errorf("%s: %v", q.what, err)
			continue
		}
		got := ""
		for _, r := range list {
			got += string(rune('a' + slices.Index(before, r.Barrier)))
			if r.Proved != (q.good == Verified) {
				t.Errorf("%s: proved %v with grade %v", q.what, r.Proved, q.good)
			}
		}
		if got != q.want {
			t.Errorf("%s: %q is redundant, want %q", q.what, got, q.want)
		}
		if (patch != nil) != (q.want != "" && q.good == Verified) {
			t.Errorf("%s: a patch removes what is proved, and only that", q.what)
		}
		if patch != nil {
			left := strings.Count(string(patch.Text), "bar.sync")
			if left != len(before)-len(q.want) {
				t.Errorf("%s: %d barriers are left\n%s", q.what, left, patch.Text)
			}
		}
	}
}

// TestRedundantProof: a proof is asked for only where the kernel has one. A kernel that loses its
// proof with a barrier needs the barrier, and one that gains a proof without it has that proof.
func TestRedundantProof(t *testing.T) {
	const body = "st.global.u32 [%d1], 1;\nbar.sync 0;\n"
	for _, c := range []struct {
		before, after graded
		want, proved  bool
	}{
		{graded{Verified, Clean}, graded{Verified, Clean}, true, true},
		{graded{Verified, Clean}, graded{Clean, Clean}, false, false},
		{graded{Clean, Clean}, graded{Verified, Clean}, true, false},
		{graded{Clean, Clean}, graded{Verified, Verified}, true, true},
		{graded{Clean, Clean}, graded{Verified, Unknown}, false, false},
	} {
		k := kernelOf(t, modern, body)
		judge := switching{k.File.Content, c.before, c.after}
		list, _, err := FindRedundant(t.Context(), k, judge, Options{})
		if err != nil || (len(list) == 1) != c.want || c.want && list[0].Proved != c.proved {
			t.Errorf("%v, then %v: %v, %v", c.before, c.after, list, err)
		}
	}
}

// TestStatements: barriers without a place in the source are groups of one.
func TestStatements(t *testing.T) {
	const bar = "bar.sync 0;\n"
	for body, want := range map[string][]int{
		bar + bar:                                         {1, 1},
		".loc 1 5 3\n" + bar + bar:                        {2},
		bar + ".loc 1 5 3\n" + bar + bar:                  {1, 2},
		".loc 1 5 3\n" + bar + ".loc 1 5 4\n" + bar:       {1, 1},
		".loc 1 5 3\n" + bar + ".loc 2 5 3\n" + bar + bar: {1, 2},
	} {
		k := kernelOf(t, modern+"\n.file 1 \"k.cu\"\n.file 2 \"l.cu\"", body)
		var got []int
		var every []*ir.Instr
		for _, g := range statements(Barriers(k.Func)) {
			got, every = append(got, len(g)), append(every, g...)
		}
		if !slices.Equal(got, want) || len(every) != len(Barriers(k.Func)) {
			t.Errorf("%s\ngroups of %v, want %v", body, got, want)
		}
	}
}

// A switching judge grades one text like before, and all others like after.
type switching struct {
	text          []byte
	before, after graded
}

func (s switching) Judge(ctx context.Context, text []byte, proof bool) (*Judgement, error) {
	if bytes.Equal(text, s.text) {
		return s.before.Judge(ctx, text, proof)
	}
	return s.after.Judge(ctx, text, proof)
}
