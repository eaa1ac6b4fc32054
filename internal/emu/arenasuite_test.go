package emu

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
)

// TestArenaSuite runs the kernels of the suites in memory of their own and in an arena with the
// same contents at the same addresses. Events, memory and the end of the run must agree; then a
// detector, which sees nothing else, has the same findings. Where memory is small enough, the launch is saved
// and read back as well, and must leave the same memory.
func TestArenaSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("many kernels")
	}
	var counts arenaCounts
	for _, dir := range []string{"../../testdata/suite", "../../examples"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "programs" {
				return fs.SkipDir // they are not made for one launch of each kernel
			}
			if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".cu" && ext != ".ptx" ||
				!long.Keep(d.Name(), 3) {
				return err
			}
			m, facts := kernels.File(t, path, lower.Options{})
			for _, k := range m.Funcs {
				if k.Kernel && len(k.Blocks) > 0 && m.AddressSize == 64 {
					cfg, errs := launch.Resolve(k, launch.Request{}, facts)
					if len(errs) == 0 {
						counts.compare(t, path, k, cfg)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%+v", counts)
	if counts.same < long.Least(150) || counts.saved < long.Least(30) {
		t.Errorf("%+v: the test shows little", counts)
	}
}

// arenaCounts counts kernels.
type arenaCounts struct{ same, saved, left int }

// compare compares both kinds of memory for one launch.
func (c *arenaCounts) compare(t *testing.T, path string, k *ir.Func, cfg *launch.Config) {
	m, err := New(k, cfg)
	// What a discard leaves differs: unknown bytes in memory of its own.
	if err != nil || len(m.prog.objects) > 60 || m.prog.usesHeap || !fits(m) || discards(k) {
		c.left++
		return
	}
	opt := Options{Workers: 1, MaxSteps: 100_000}
	want, wantEvents := recorded(t, m, opt)
	tm, a, release := twin(t, m)
	defer release()
	// Memory before the run.
	vars := make(map[*ir.Var]uint64)
	for v, id := range m.prog.byVar {
		vars[v] = m.prog.space.base(id)
	}
	p, err := NewProgram(k, a, vars)
	if err != nil {
		t.Fatal(err)
	}
	saved, saveErr := p.Save(cfg, m.prog.params.data)
	got, gotEvents := recorded(t, tm, opt)
	if want.Status != got.Status || want.Steps != got.Steps || want.LaneInstrs != got.LaneInstrs ||
		len(want.Faults) != len(got.Faults) || !reflect.DeepEqual(wantEvents, gotEvents) {
		t.Errorf("%s, %s: own memory %v %+v, arena %v %+v\n%s", path, k.Demangled, want.Status,
			want.Stop, got.Status, got.Stop, cmp.Diff(wantEvents, gotEvents))
		return
	}
	for _, o := range want.mem.objs {
		n := min(o.size, 1<<16)
		own := make([]byte, n)
		if known, _ := o.read(o.base, own); known && !bytes.Equal(own, a.mem[o.base-a.base:][:n]) {
			t.Errorf("%s, %s: %s differs", path, k.Demangled, o.name)
		}
	}
	c.same++
	// The same code again, in memory as it was before, with what the first run has left for reuse.
	tm2, a2, release := twin(t, m)
	defer release()
	prog := *tm.prog
	prog.arena = a2
	tm2.prog = &prog
	if again, events := recorded(t, tm2, opt); again.Status != want.Status ||
		again.Steps != want.Steps || !reflect.DeepEqual(wantEvents, events) {
		t.Errorf("%s, %s: run again: %v %+v\n%s", path, k.Demangled, again.Status, again.Stop,
			cmp.Diff(wantEvents, events))
	}
	if saveErr == nil && want.Status == Completed {
		c.reload(t, path, saved, a, tm)
	}
}

// fits reports whether the objects have contents that can be written into an arena.
func fits(m *Machine) bool {
	for i := range m.prog.objects {
		o := &m.prog.objects[i]
		plain := o.fill == launch.FillZero && (o.buffer == nil || !o.buffer.HasElements())
		if o.fill == launch.FillUnknown || !plain && o.size > 1<<24 {
			return false
		}
	}
	return true
}

// recorded runs a machine and returns its events.
func recorded(t *testing.T, m *Machine, opt Options) (*Result, []any) {
	rec := &recorder{}
	res, err := m.Run(context.Background(), opt, rec)
	if err != nil {
		t.Fatal(err)
	}
	return res, rec.events
}

// reload runs a launch that was saved before tm ran in arena a, and compares the memory of the
// arguments after it. Threads take the same turns, so that races have the same outcome.
func (c *arenaCounts) reload(t *testing.T, path string, saved *launch.Saved, a *Arena,
	tm *Machine) {
	k := tm.kernel
	var file bytes.Buffer
	if err := saved.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := launch.ReadSaved(&file)
	if err != nil {
		t.Fatal(err)
	}
	cfg, errs := launch.Resolve(k, launch.Request{Saved: read, AnyShared: true}, nil)
	if len(errs) > 0 {
		t.Fatalf("%s, %s: %v", path, k.Demangled, errs)
	}
	m, err := New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, _ := recorded(t, m, Options{Workers: 1})
	if res.Status != Completed {
		t.Errorf("%s, %s: saved launch: %v %+v", path, k.Demangled, res.Status, res.Stop)
	}
	for i, v := range k.Params {
		buf := cfg.Args[i].Buffer
		if buf == nil || len(buf.Pointers) > 0 {
			continue
		}
		o := a.table.Load().find(binary.LittleEndian.Uint64(tm.prog.params.data[v.Offset:]))
		id := slices.IndexFunc(m.prog.objects, func(s objectSpec) bool { return s.buffer == buf })
		own := make([]byte, min(o.size, 1<<16))
		if _, ok := res.mem.objs[id].read(res.mem.objs[id].base, own); !ok ||
			!bytes.Equal(own, a.mem[o.base-a.base:][:len(own)]) {
			t.Errorf("%s, %s: %s differs after the saved launch", path, k.Demangled, v.Name)
		}
	}
	c.saved++
}

// discards reports whether a kernel has a discard.
func discards(k *ir.Func) bool {
	return slices.ContainsFunc(k.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool {
			return in.Action() == isa.ActDiscard
		})
	})
}
