package emu

import (
	"context"
	"io/fs"
	"path/filepath"
	"reflect"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/order"
	"heddle/internal/testing/kernels"
)

// TestTouched: what a run touches is what its events say, with and without a detector, and with
// workers that run ahead.
func TestTouched(t *testing.T) {
	n := 0
	root := "../../testdata/suite"
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".cu" && ext != ".ptx" {
			return err
		}
		if testing.Short() && n > 40 {
			return fs.SkipAll
		}
		m, facts := kernels.File(t, path, lower.Options{})
		for _, k := range m.Funcs {
			if k.Kernel && len(k.Blocks) > 0 {
				if cfg, errs := launch.Resolve(k, launch.Request{}, facts); len(errs) == 0 {
					n += compareTouched(t, path, k, cfg)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Errorf("%d kernels: the test shows little", n)
	}
}

// compareTouched compares for one launch and returns 1, or 0 if the launch cannot be executed.
func compareTouched(t *testing.T, path string, k *ir.Func, cfg *launch.Config) int {
	t.Helper()
	m, err := New(k, cfg)
	if err != nil {
		return 0
	}
	rec := &recorder{}
	var with, without, ahead order.Touched
	opt := Options{Workers: 1, MaxSteps: 100_000, Touched: &with}
	res, err := m.Run(context.Background(), opt, rec)
	if err != nil {
		t.Fatal(err)
	}
	opt.Touched = &without
	if _, err := m.Run(context.Background(), opt, nil); err != nil {
		t.Fatal(err)
	}
	opt.Touched, opt.Workers = &ahead, 3
	if _, err := m.Run(context.Background(), opt, nil); err != nil {
		t.Fatal(err)
	}
	want := ofEvents(rec.events)
	for i, got := range []*order.Touched{&with, &without, &ahead} {
		a, _ := got.Accesses()
		b, _ := want.Accesses()
		if res.Status == Completed && (!reflect.DeepEqual(a, b) || got.Fenced != want.Fenced) {
			t.Errorf("%s, %s: run %d touches %v, fenced %v; the events say %v, %v", path, k.Demangled, i, a,
				got.Fenced, b, want.Fenced)
		}
	}
	return 1
}

// ofEvents collects the accesses to global memory of a list of events.
func ofEvents(events []any) *order.Touched {
	out := new(order.Touched)
	for _, e := range events {
		switch e := e.(type) {
		case event.Fence:
			out.Fenced = out.Fenced || e.Scope >= event.GPU
		case event.Bulk:
			if e.To.Space == event.Global {
				out.Mark(order.Write, e.To.Addr, e.To.Size)
			}
			if e.From.Space == event.Global {
				out.Mark(order.Read, e.From.Addr, e.From.Size)
			}
		case copied:
			for l := range event.WarpSize {
				if e.Mask>>l&1 != 0 && e.read[l] > 0 {
					out.Mark(order.Read, e.from[l], uint64(e.read[l]))
				}
			}
		case access:
			if e.Space == event.Global {
				markEvent(out, &e)
			}
		}
	}
	return out
}

// markEvent adds an access, lane by lane.
func markEvent(out *order.Touched, e *access) {
	strong := e.Order.Strong() && e.Scope >= event.GPU
	a := map[[2]bool]order.Access{{false, false}: order.Read, {false, true}: order.StrongRead,
		{true, false}: order.Write, {true, true}: order.StrongWrite}[[2]bool{e.Kind.Writes(), strong}]
	out.Fenced = out.Fenced || strong && e.Order > event.Relaxed
	for l := range event.WarpSize {
		if e.Mask>>l&1 != 0 {
			out.Mark(a, e.Addr[l], uint64(e.Size))
		}
	}
}

// TestTouchedRows: blocks whose rows do not fill a warp, in the form in which addresses of a warp are
// computed at once.
func TestTouchedRows(t *testing.T) {
	for _, x := range []uint32{1, 5, 8, 16, 24, 32, 48} {
		k := kernel(t, `
	mov.u32 %u, %tid.y;
	mov.u32 %v, %tid.x;
	mad.lo.u32 %w, %u, 100, %v;
	mad.wide.u32 %p, %w, 4, %o;
	st.global.u32 [%p], %v;
	mad.wide.u32 %q, %u, 4, %x;
	ld.global.u32 %z, [%q];
	ret;`)
		cfg := config(2, x, buffer("out", 1<<16), buffer("x", 1<<16))
		cfg.Geometry.Block.Y = 6
		if compareTouched(t, "rows", k, cfg) == 0 {
			t.Errorf("rows of %d cannot be executed", x)
		}
	}
}
