package lockrun_test

import (
	"os"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep/form"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/lockrun"
)

func run(t *testing.T, f *ir.Func, threads uint32, number string) *lockrun.Result {
	t.Helper()
	p, err := form.New(f)
	if err != nil {
		t.Fatal(err)
	}
	req := launch.Request{Grid: &event.Dim3{X: 1, Y: 1, Z: 1},
		Block: &event.Dim3{X: threads, Y: 1, Z: 1}}
	for _, v := range f.Params {
		spec := launch.ArgSpec{Param: v.Name, Offset: -1, Kind: launch.ArgBuffer, Fill: launch.FillZero,
			Size: 256}
		if v.Size == 4 {
			spec = launch.ArgSpec{Param: v.Name, Offset: -1, Kind: launch.ArgValue, Text: number}
		}
		req.Args = append(req.Args, spec)
	}
	cfg, errs := launch.Resolve(f, req, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	r, err := lockrun.Run(p, cfg, lockrun.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFigure1: the paper says of the kernel of figure 1a that it is right for any power of two, and
// of that of figure 1b that thread 0 never comes to its first barrier.
func TestFigure1(t *testing.T) {
	text, err := os.ReadFile("../../lockstep/form/testdata/scan.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m := kernels.PTX(t, string(text))
	if r := run(t, m.Kernel("scan"), 8, "8"); !r.Clean() {
		t.Errorf("figure 1a: %+v", r)
	}
	if r := run(t, m.Kernel("shoc"), 8, ""); r.Divergence == nil || r.Divergence.Op() != "bar" ||
		len(r.Races) > 0 {
		t.Errorf("figure 1b: %+v", r)
	}
}

// TestMissingBarrier: "if either of the barriers in the example were omitted the kernel would be
// prone to a data race" (section 2): between the read of sum[t - offset] and the write of sum[t].
func TestMissingBarrier(t *testing.T) {
	text, err := os.ReadFile("../../lockstep/form/testdata/scan.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for omit := range 2 {
		f := kernels.PTX(t, string(text)).Kernel("scan")
		n := 0
		for _, b := range f.Blocks {
			if in := b.Instrs[0]; in.Op() == "bar" || in.Op() == "bar.sync" {
				if n++; n-1 == omit {
					b.Instrs = b.Instrs[1:]
				}
			}
		}
		f.Link()
		r := run(t, f, 8, "8")
		if len(r.Races) == 0 || r.Divergence != nil {
			t.Fatalf("without barrier %d of %d: %+v", omit, n, r)
		}
		for _, race := range r.Races {
			if race.A.Op() != "ld" && race.B.Op() != "ld" {
				t.Errorf("a race of %s and %s, want a read and the write", race.A.Text(), race.B.Text())
			}
		}
	}
}

// TestIdleSync: a sync that finds nobody enabled separates nothing.
func TestIdleSync(t *testing.T) {
	f := kernels.PTX(t, `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n)
{
	.reg .b32 %t, %n, %a;
	.reg .pred %p;
	.shared .b32 s[4];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	setp.eq.u32 %p, %t, 0;
	@%p st.shared.u32 [s], %t;
	setp.eq.u32 %p, %n, 7;
	@%p bar.sync 0;
	ld.shared.u32 %a, [s];
	ret;
}
`).Funcs[0]
	if r := run(t, f, 4, "7"); !r.Clean() {
		t.Errorf("with the barrier: %+v", r)
	}
	if r := run(t, f, 4, "6"); len(r.Races) != 1 {
		t.Errorf("without: %+v", r)
	}
}
