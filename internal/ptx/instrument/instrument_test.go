package instrument

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// module is a parsed PTX text.
type module struct {
	file *source.File
	tree *ptx.File
	mod  *ir.Module
}

// read parses PTX. Errors fail the test.
func read(t *testing.T, text []byte) module {
	t.Helper()
	set := source.NewSet()
	file, err := set.Add("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v at %v\n%s", errs[0], set.Format(errs[0].Span.Start), text)
	}
	mod, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatalf("%v at %v\n%s", errs[0], set.Format(errs[0].Span.Start), text)
	}
	return module{file, tree, mod}
}

// instrumented rewrites a module.
func instrumented(t *testing.T, m module, opt Options) *Result {
	t.Helper()
	r, err := Module(m.file, m.tree, m.mod, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOutputIsPTX instruments every kernel of the suite and the examples, under all combinations of
// options. The result must be PTX that our parser and irgen accept, and print as it is.
func TestOutputIsPTX(t *testing.T) {
	kernels, refused := 0, 0
	for _, dir := range []string{"../../../testdata/suite", "../../../examples"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "programs" {
				return fs.SkipDir
			}
			kernel := slices.Contains([]string{".cu", ".ptx", ".cl"}, filepath.Ext(path))
			if err != nil || d.IsDir() || !kernel || !long.Keep(d.Name(), 4) {
				return err
			}
			low, err := lower.File(t.Context(), path, lower.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := read(t, low.PTX)
			all := func(*ir.Instr) bool { return true }
			for _, opt := range []Options{{}, {Fixed: true, Private: true, Separate: true}, {Free: all},
				{Lockstep: true, Proved: func(*ir.Func) bool { return true }},
				{Lockstep: true, Values: true, Queues: 2, Slots: 128}} {
				r := instrumented(t, m, opt)
				stable(t, r.Text)
				for _, k := range r.Kernels {
					kernels++
					if k.Reason != "" {
						refused++
						if opt.Queues > 0 {
							t.Logf("%s: %s: %s", path, k.Func.Demangled, k.Reason)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kernels instrumented, %d refused", kernels-refused, refused)
	if least := long.Least(400); kernels-refused < least {
		t.Errorf("%d kernels instrumented, at least %d are expected", kernels-refused, least)
	}
}

// stable checks that text is valid, and is what printing it gives.
func stable(t *testing.T, text []byte) module {
	t.Helper()
	m := read(t, text)
	var b bytes.Buffer
	if err := ptx.Print(&b, m.tree); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), text) {
		t.Errorf("the text changes when it is printed again")
	}
	return m
}

// body wraps statements in a kernel with some registers.
func body(statements string) string {
	return `.version 7.8
.target sm_80
.address_size 64
.extern .func elsewhere();
.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 p)
{
	.reg .pred %q;
	.reg .b32 %r, %s;
	.reg .b64 %a, %b;
	.reg .b128 %w;
	.reg .v2 .b32 %v;
	.shared .align 16 .b8 buf[64];
	ld.param.u64 %a, [p];
	` + statements + `
	ret;
}
`
}

// TestRefused checks what is not instrumented, and that it is named.
func TestRefused(t *testing.T) {
	for _, test := range []struct{ code, reason string }{
		{"st.global.u32 [%a], 1;", ""},
		{"mbarrier.init.shared.b64 [buf], 1;", "mbarrier.init.shared.b64 is not logged"},
		{"barrier.cluster.arrive;", "barrier.cluster.arrive is not logged"},
		{"call elsewhere, ();", "elsewhere is called, which has no body in its module"},
		{"call free, (%a);", ""},
		{"call (%r), cudaLaunchDeviceV2, (%a, %b);",
			"cudaLaunchDeviceV2 is called, which has no body in its module"},
		{"fence.proxy.alias;", "fence.proxy.alias is not logged"},
		{"fence.proxy.async;", ""}, // it orders bulk copies, which the kernel does not have
		{"st.global.b128 [%a], %w;", "the values of st.global.b128 are not logged"},
		{"st.global.u32 [%a], %v.x;",
			"a component of a vector register as an operand of st.global.u32 is not logged"},
		// The carry flag does not survive a call.
		{"add.cc.u32 %r, %r, %s; st.global.u32 [%a], %r; addc.u32 %s, %s, 0;",
			"a call between addc.u32 and what set its carry flag changes the flag"},
		{"add.cc.u32 %r, %r, %s; addc.u32 %s, %s, 0; st.global.u32 [%a], %r;", ""},
		{"add.cc.u32 %r, %r, %s; bar.warp.sync 1; addc.cc.u32 %s, %s, 0; addc.u32 %s, %s, 0;",
			"a call between addc.cc.u32 and what set its carry flag changes the flag"},
	} {
		r := instrumented(t, read(t, []byte(body(test.code))), Options{})
		if got := r.Kernels[0].Reason; got != test.reason {
			t.Errorf("%s: %q, want %q", test.code, got, test.reason)
		}
		if logs := strings.Contains(string(r.Text), Prefix); logs != (test.reason == "") {
			t.Errorf("%s: log functions in the text: %v", test.code, logs)
		}
	}
}

// TestModuleErrors checks what makes an entire module unusable.
func TestModuleErrors(t *testing.T) {
	for _, test := range []struct{ old, new, err string }{
		{".address_size 64", ".address_size 32", "modules with 32-bit addresses are not instrumented"},
		{".target sm_80", ".target sm_20", "has no shfl"},
		{".version 7.8", ".version 2.3", "has no shfl"},
		{"ret;", "ret; // " + Prefix, "it is instrumented already"},
	} {
		text := strings.Replace(body(""), test.old, test.new, 1)
		if test.new == ".address_size 32" {
			text = strings.ReplaceAll(text, "ld.param.u64 %a, [p];", "")
		}
		m := read(t, []byte(text))
		if _, err := Module(m.file, m.tree, m.mod, Options{}); err == nil ||
			!strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.new, err, test.err)
		}
	}
	m := read(t, []byte(body("")))
	for _, slots := range []int{0, 64, 100, 129} {
		if _, err := Module(m.file, m.tree, m.mod, Options{Queues: 1, Slots: slots}); err == nil {
			t.Errorf("%d slots are accepted", slots)
		}
	}
}

// TestMerge checks which accesses share a record. Each case says for each access, in the order of
// the text, which one's record stands for it.
func TestMerge(t *testing.T) {
	for _, test := range []struct {
		code string
		by   []int
	}{
		{"ld.global.u32 %r, [%a]; ld.global.u32 %s, [%a+4];", []int{0, 0}},
		{"ld.global.u32 %r, [%a]; st.global.u32 [%a], %r;", []int{1, 1}}, // the write has the value
		{"st.global.u32 [%a], %r; ld.global.u32 %r, [%a+8];", []int{0, 0}},
		// A second write stores another value.
		{"st.global.u32 [%a], %r; st.global.u32 [%a], %s;", []int{0, 1}},
		// The register changes, also by the access itself.
		{"ld.global.u32 %r, [%a]; add.u64 %a, %a, 4; ld.global.u32 %s, [%a];", []int{0, 1}},
		{"ld.global.u64 %a, [%a]; ld.global.u32 %s, [%a];", []int{0, 1}},
		// Other lanes.
		{"ld.global.u32 %r, [%a]; @%q ld.global.u32 %s, [%a];", []int{0, 1}},
		{"@!%q ld.global.u32 %r, [%a]; @%q ld.global.u32 %s, [%a];", []int{0, 1}},
		{"@%q ld.global.u32 %r, [%a]; @%q ld.global.u32 %s, [%a];", []int{0, 0}},
		{"@%q ld.global.u32 %r, [%a]; setp.eq.u32 %q, %r, 0; @%q ld.global.u32 %s, [%a];", []int{0, 1}},
		// Another space, and what synchronizes.
		{"ld.global.u32 %r, [%a]; ld.u32 %s, [%a];", []int{0, 1}},
		{"ld.global.u32 %r, [%a]; bar.sync 0; ld.global.u32 %s, [%a];", []int{0, 1, 2}},
		{"ld.global.u32 %r, [%a]; membar.gl; ld.global.u32 %s, [%a];", []int{0, 1, 2}},
		{"ld.global.u32 %r, [%a]; ld.volatile.global.u32 %s, [%a]; ld.global.u32 %s, [%a];",
			[]int{0, 1, 2}},
		{"ld.global.u32 %r, [%a]; @%q bra next; next: ld.global.u32 %s, [%a];", []int{0, 1}},
	} {
		r := instrumented(t, read(t, []byte(body(test.code))), Options{})
		var by []int
		for i := range r.Sites[:len(r.Sites)-1] { // without that of ret
			by = append(by, r.Sites[i].By)
		}
		if !slices.Equal(by, test.by) {
			t.Errorf("%s: %v, want %v", test.code, by, test.by)
		}
		calls, want := strings.Count(string(r.Text), "call "), 1
		for i, n := range test.by {
			if n == i {
				want++
			}
		}
		if strings.Contains(test.code, "volatile") {
			want++ // begin and end
		}
		if calls != want {
			t.Errorf("%s: %d calls, want %d", test.code, calls, want)
		}
	}
}

// TestReport checks what is said about a kernel: its logged instructions, and the cost.
func TestReport(t *testing.T) {
	text := `.version 7.8
.target sm_80
.address_size 64
.func helper (.param .u64 p)
{
	.reg .b64 %a;
	ld.param.u64 %a, [p];
	st.global.v4.u32 [%a], {1, 2, 3, 4};
	ret;
}
.visible .entry caller(.param .u64 p)
{
	.reg .b64 %a;
	ld.param.u64 %a, [p];
	call helper, (%a);
	ret;
}
.visible .entry plain(.param .u64 p)
{
	.reg .b64 %a;
	.reg .b32 %r;
	ld.param.u64 %a, [p];
	ld.global.u32 %r, [%a];
	ld.global.u32 %r, [%a+4];
	ret;
}
`
	r := instrumented(t, read(t, []byte(text)), Options{})
	// caller: the store, whose call has a 64-bit address and 4 values, shifted and joined in two
	// words; and the end. plain: one record for two loads, and the end.
	want := []Kernel{
		{Instrs: 6, Logged: 2, Registers: 10, Params: 4 + 4 + 8 + 2*8},
		{Instrs: 4, Logged: 2, Merged: 1, Registers: 2, Params: 4 + 4 + 8, Stack: true},
	}
	for i, k := range r.Kernels {
		k.Func = nil
		if k != want[i] {
			t.Errorf("kernel %d: %+v, want %+v", i, k, want[i])
		}
	}
}

// TestShared: the first thread of the grid logs the addresses of the shared variables that are
// visible at the beginning of a kernel, and of no others.
func TestShared(t *testing.T) {
	const text = `.version 7.8
.target sm_80
.address_size 64
.shared .align 4 .b8 of_module[16];
.shared .align 4 .b8 hidden[16];
.extern .shared .align 16 .b8 dynamic[];
.func f() { .shared .align 4 .b8 of_function[8]; .reg .b32 %r; ld.shared.u32 %r, [of_function]; ret; }
.visible .entry k()
{
	.reg .b32 %r;
	.shared .align 4 .b8 own[4];
	.shared .align 4 .b8 hidden[8];
	ld.shared.u32 %r, [own];
	ld.shared.u32 %r, [hidden];
	ld.shared.u32 %r, [of_module];
	ld.shared.u32 %r, [dynamic];
	{ .shared .align 4 .b8 nested[4]; ld.shared.u32 %r, [nested]; }
	call f, ();
	ret;
}
`
	r := instrumented(t, read(t, []byte(text)), Options{})
	var names []string
	for _, s := range r.Sites {
		if s.What == Layout {
			names = append(names, s.Var.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"dynamic", "hidden", "of_module", "own"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	stable(t, r.Text)
}

// TestBound: a kernel without a bound of its registers gets that of a block of 1024 threads; others
// keep theirs, and so does a kernel that does not log.
func TestBound(t *testing.T) {
	for _, test := range []struct {
		directive, code string
		added           bool
	}{
		{"", "st.global.u32 [%a], 1;", true},
		{".maxntid 128, 1, 1", "st.global.u32 [%a], 1;", false},
		{".reqntid 64", "st.global.u32 [%a], 1;", false},
		{".maxnreg 40", "st.global.u32 [%a], 1;", false},
		{"", "barrier.cluster.arrive;", false},
	} {
		text := strings.Replace(body(test.code), ")\n{", ")\n"+test.directive+"\n{", 1)
		r := instrumented(t, read(t, []byte(text)), Options{})
		m := stable(t, r.Text)
		if k := m.mod.Kernel("k"); (k.MaxNTID == event.Dim3{X: 1024, Y: 1, Z: 1}) != test.added {
			t.Errorf("%q: .maxntid %v", test.directive, k.MaxNTID)
		}
	}
}

// TestLaunchedKernels: a kernel that another one may launch would find no log.
func TestLaunchedKernels(t *testing.T) {
	text := body("call (%r), cudaLaunchDeviceV2, (%a, %b);") + `
.visible .entry other(.param .u64 p)
{
	.reg .b64 %a;
	ld.param.u64 %a, [p];
	st.global.u32 [%a], 1;
	ret;
}
`
	r := instrumented(t, read(t, []byte(text)), Options{})
	if got := r.Kernels[1].Reason; !strings.Contains(got, "launches grids") {
		t.Errorf("%q", got)
	}
}
