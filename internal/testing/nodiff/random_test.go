package nodiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand"
	"reflect"
	"sync/atomic"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
)

// TestRandomKernels: on random kernels the detector agrees with the oracle, and one worker sends
// the same events and leaves the same memory as two.
func TestRandomKernels(t *testing.T) {
	n := 150
	if testing.Short() {
		n = 60
	}
	if long.All() {
		n = 20_000
	}
	ran := 0
	for seed := range n {
		k := gen.Random(rand.New(rand.NewSource(int64(seed))), gen.Options{})
		ran += compareRandom(t, k, uint64(seed))
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, k.PTX)
		}
	}
	if ran < 3*n {
		t.Errorf("%d runs of %d kernels were compared", ran, n)
	}
	t.Logf("%d blocks showed nothing in their shared memory, %d were examined again; reads of %d "+
		"objects were left out", blocksApart.Load(), blocksAgain.Load(), readsApart.Load())
	if blocksApart.Load() == 0 || blocksAgain.Load() == 0 || readsApart.Load() == 0 {
		t.Error("some case is missing")
	}
}

// TestRandomKernelsVary: the generator is useful only if its kernels reach every kind of result.
func TestRandomKernelsVary(t *testing.T) {
	const n = 200
	racy, completed, stalled := 0, 0, 0
	for seed := range int64(n) {
		k := gen.Random(rand.New(rand.NewSource(seed)), gen.Options{})
		f := kernels.PTX(t, k.PTX).Funcs[0]
		cfg, errs := launch.Resolve(f, request(k), nil)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		m, err := emu.New(f, cfg)
		if err != nil {
			t.Fatal(err)
		}
		d := race.New(race.Options{Geometry: cfg.Geometry, Benign: event.BenignNone,
			SharedBytes: uint32(m.SharedBytes())})
		r, err := m.Run(t.Context(), emu.Options{MaxSteps: maxSteps, Workers: 1}, d)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Report().Races) > 0 {
			racy++
		}
		switch r.Status {
		case emu.Completed:
			completed++
		case emu.Stalled:
			stalled++
		}
	}
	if racy < n/5 || n-racy < n/5 || completed < n/2 || stalled < n/50 {
		t.Errorf("of %d kernels %d race, %d run to their end, %d deadlock", n, racy, completed, stalled)
	}
}

// FuzzRandomKernels is TestRandomKernels on kernels that the fuzzer makes.
func FuzzRandomKernels(f *testing.F) {
	for seed := range int64(8) {
		data := make([]byte, 200)
		rand.New(rand.NewSource(seed)).Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k := gen.Random(&gen.Bytes{Data: data}, gen.Options{})
		compareRandom(t, k, uint64(len(data)))
		if t.Failed() {
			t.Log(k.PTX)
		}
	})
}

func request(k gen.Kernel) launch.Request { return randomRequest(k, "3", 1) }

func randomRequest(k gen.Kernel, number string, contents uint64) launch.Request {
	grid, block := k.Grid, k.Block
	return launch.Request{Grid: &grid, Block: &block, Args: []launch.ArgSpec{
		{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Fill: launch.FillRandom, Size: 4 * gen.Words,
			Seed: contents},
		{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: number},
	}}
}

func compareRandom(t *testing.T, k gen.Kernel, seed uint64) int {
	t.Helper()
	f := kernels.PTX(t, k.PTX).Funcs[0]
	n := 0
	for _, lockstep := range []bool{false, true} {
		n += compareLaunch(t, f, request(k), nil, lockstep, seed, event.NoSpace)
		n += compareWorkers(t, f, request(k), lockstep, seed)
	}
	return n
}

// compareWorkers runs a kernel with one and with two workers, which must send the same events, and
// of which detectors must report the same.
func compareWorkers(t *testing.T, f *ir.Func, req launch.Request, lockstep bool, seed uint64) int {
	t.Helper()
	cfg, errs := launch.Resolve(f, req, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	run := func(workers int) string {
		opt := emu.Options{Seed: seed, MaxSteps: maxSteps, Workers: workers}
		if lockstep {
			opt.Model = event.Lockstep
		}
		d := newDigest()
		r, err := m.Run(t.Context(), opt, d)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("status %d, %d steps, %d events, %x", r.Status, r.Steps, d.n, d.h.Sum64())
	}
	if one, two := run(1), run(2); one != two {
		t.Errorf("lockstep %v, seed %d: one worker: %s; two: %s", lockstep, seed, one, two)
	}
	for _, split := range []bool{false, true} {
		detect := func(workers int) (*race.Report, *divided) {
			opt := race.Options{Geometry: cfg.Geometry, SharedBytes: uint32(m.SharedBytes()),
				Recycling: true, Exchanges: true}
			opt.Benign = []event.Benign{event.BenignNone, event.BenignWarp,
				event.BenignAll}[seed%3]
			if lockstep {
				opt.Model = event.Lockstep
			}
			var d *divided
			objects := race.Objects{Shift: m.ObjectShift()}
			if err := objects.Run(t.Context(), func(ctx context.Context) error {
				if seed%2 == 0 && objects.Shift > 0 {
					opt.Objects = &objects
				}
				d = &divided{detector: race.New(opt)}
				if split {
					d.detector = race.NewSplit(opt, false)
				}
				_, err := m.Run(ctx, emu.Options{Seed: seed, MaxSteps: maxSteps, Workers: workers,
					Model: opt.Model}, d)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return d.Report(), d
		}
		one, _ := detect(1)
		two, d := detect(2)
		if !reflect.DeepEqual(one, two) {
			t.Errorf("lockstep %v, split %v, seed %d: one worker:\n%+v\ntwo:\n%+v", lockstep, split, seed,
				one, two)
		}
		blocksApart.Add(d.nothing.Load())
		blocksAgain.Add(d.again.Load())
	}
	return 1
}

// Of all runs of compareWorkers: the numbers of blocks of which the shared memory was examined apart,
// of those that were examined again, and of pairs of a block and an object whose reads were left out.
var blocksApart, blocksAgain, readsApart atomic.Int64

// divided is a detector that counts the blocks of which a part shows nothing, and those of which it
// shows something.
type divided struct {
	detector       // a race.Detector or race.Split
	nothing, again atomic.Int64
}

// BlockSink implements event.Divided.
func (d *divided) BlockSink() event.BlockSink {
	if s := d.detector.(event.Divided).BlockSink(); s != nil {
		return &counted{s, d}
	}
	return nil
}

// counted is a part of a divided.
type counted struct {
	event.BlockSink
	of *divided
}

// End implements event.BlockSink.
func (c *counted) End(told []uint64) ([]uint64, bool) {
	told, nothing := c.BlockSink.End(told)
	if nothing {
		c.of.nothing.Add(1)
	} else {
		c.of.again.Add(1)
	}
	readsApart.Add(int64(len(told)))
	return told, nothing
}

// Told implements event.Divided.
func (d *divided) Told(told []uint64) { d.detector.(event.Divided).Told(told) }

// digest hashes the events of a run, except for undefined entries outside their masks.
type digest struct {
	h interface {
		Write([]byte) (int, error)
		Sum64() uint64
	}
	n   int
	buf bytes.Buffer
}

func newDigest() *digest { return &digest{h: fnv.New64a()} }

func (d *digest) put(vals ...any) {
	d.n++
	d.buf.Reset()
	for _, v := range vals {
		if err := binary.Write(&d.buf, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	_, _ = d.h.Write(d.buf.Bytes())
}

func (d *digest) Access(a *event.Access) {
	d.put(uint8(1), a.Warp, a.Site, a.Mask, a.Active, a.Kind, a.Space, a.Order, a.Scope, a.Proxy,
		a.Size, a.Elem, a.Stored)
	for l := range event.WarpSize {
		if a.Mask>>l&1 == 1 {
			d.put(a.Addr[l])
			for k := range 4 {
				if a.Data != nil {
					d.put(a.Data[k][l])
				}
			}
		}
	}
}

func (d *digest) Copy(c *event.Copy) {
	d.put(uint8(9), c.Warp, c.Site, c.Mask, c.Active, c.Size)
	for l := range event.WarpSize {
		if c.Mask>>l&1 == 1 {
			d.put(c.To[l], c.From[l], c.Read[l])
		}
	}
}

func (d *digest) CopyArrive(e *event.CopyArrive)   { d.put(uint8(11), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) Bulk(e *event.Bulk)               { d.put(uint8(12), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) Matrix(e *event.Matrix)           { d.put(uint8(18), fmt.Appendf(nil, "%v", *e.Reads)) }
func (d *digest) MatrixGroup(e *event.MatrixGroup) { d.put(uint8(19), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) Tensor(e *event.TensorAgent)      { d.put(uint8(20), fmt.Appendf(nil, "%v", e.Rects)) }
func (d *digest) TensorSync(e *event.TensorSync)   { d.put(uint8(21), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) BulkGroup(e *event.BulkGroup)     { d.put(uint8(13), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) Signal(e *event.Signal)           { d.put(uint8(14), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) MBarrier(e *event.MBarrier)       { d.put(uint8(15), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) ProxyFence(e *event.ProxyFence)   { d.put(uint8(16), fmt.Appendf(nil, "%v", *e)) }
func (d *digest) CopyGroup(e *event.CopyGroup)     { d.put(uint8(10), *e) }
func (d *digest) Fence(e *event.Fence)             { d.put(uint8(2), *e) }
func (d *digest) Arrive(e *event.Arrive)           { d.put(uint8(3), *e) }
func (d *digest) Cluster(*event.ClusterBarrier)    {}

func (d *digest) InitFence(*event.InitFence) {}

func (d *digest) Complete(e *event.Complete) { d.put(uint8(4), *e) }
func (d *digest) WarpSync(e *event.WarpSync) { d.put(uint8(5), *e) }
func (d *digest) Converge(e *event.Converge) { d.put(uint8(6), *e) }
func (d *digest) Exit(e *event.Exit)         { d.put(uint8(7), *e) }
func (d *digest) Stall(e *event.Stall) {
	d.put(uint8(8), e.Block, uint32(len(e.Waiting)), uint32(len(e.Exited)))
	for _, w := range e.Waiting {
		d.put(w)
	}
}
