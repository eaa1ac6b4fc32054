package exec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/host"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// kernel is a kernel that the program has asked for.
type kernel struct {
	fn       *ir.Func
	module   *module
	code     *emu.Program
	watch    *run.Program
	shapes   map[shape]uint64 // launches of each shape
	launches uint64           // requested, executed or not
	file     string           // of saved launches, without the number
	time     time.Duration
}

// shape is what the memory accesses of a kernel depend on first.
type shape struct {
	grid, block, cluster event.Dim3
	shared               uint64
}

// row is the kernel in the table at the end.
func (k *kernel) row() Kernel {
	_, checked, lanes := k.watch.Launches()
	return Kernel{Name: k.fn.Demangled, Launches: k.launches, Checked: checked,
		LaneInstructions: lanes, Findings: k.watch.Bugs(), Shapes: len(k.shapes), Time: k.time}
}

// Launch implements host.Device.
func (s *session) Launch(l *host.Launch) host.Error {
	if int(l.Kernel) >= len(s.kernels) || l.Shared > math.MaxUint32 {
		return host.LaunchFailure
	}
	k := s.kernels[l.Kernel]
	sh := shape{l.Grid, l.Block, l.Cluster, l.Shared}
	check := s.r.opt.Check.Watches(k.shapes[sh])
	k.shapes[sh]++
	k.launches++
	params := bytes.Clone(l.Params) // findings keep them
	cfg := launch.OfProgram(k.fn, event.Geometry{Grid: l.Grid, Block: l.Block, Cluster: l.Cluster},
		uint32(l.Shared), params, s.find)
	machine, err := k.code.Machine(cfg, params)
	if err != nil {
		s.problem(diag.Unsupported, k.fn.Demangled, "launch %d%s: %v", k.launches, s.place(l.Caller), err)
		return host.LaunchFailure
	}
	if check && s.r.opt.Save != "" {
		s.save(k, cfg, params, l.Cooperative)
	}
	s.current = fmt.Sprintf("in launch %d of this kernel%s", k.launches, s.place(l.Caller))
	k.watch.Touched = s.touchedBy(l.Stream)
	found := k.watch.Bugs()
	start := time.Now()
	res, err := k.watch.Launch(s.r.ctx, cfg, machine, check)
	k.time += time.Since(start)
	s.launched(k, l)
	s.executed(Executed{Process: s.hello.Process, Kernel: k.fn.Demangled, Number: k.launches,
		Stream: s.streamOf(l.Stream), Place: strings.TrimPrefix(s.place(l.Caller), " at "), Checked: check,
		Failed: err != nil || res.Status != emu.Completed, Found: k.watch.Bugs() > found})
	if err != nil {
		return host.LaunchFailure
	}
	return ended(res)
}

// executed adds a launch to the timeline.
func (s *session) executed(e Executed) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if len(s.r.sum.Timeline) < mostExecuted {
		s.r.sum.Timeline = append(s.r.sum.Timeline, e)
	} else {
		s.r.sum.Later++
	}
}

// save writes a launch to a file before it is executed. A failure is a note at the end: the program
// runs on.
func (s *session) save(k *kernel, cfg *launch.Config, params []byte, cooperative bool) {
	if k.file == "" {
		k.file = s.r.fileFor(launch.BaseName(k.fn.Demangled))
	}
	saved, err := k.code.Save(cfg, params)
	if err == nil {
		saved.Cooperative = cooperative
		var f *os.File
		if f, err = os.Create(fmt.Sprintf("%s.%d", k.file, k.launches)); err == nil {
			err = errors.Join(saved.Write(f), f.Close())
		}
	}
	if err != nil {
		s.r.note("launch %d of %s is not saved: %v", k.launches, k.fn.Demangled, err)
	}
}

// find returns the memory that a pointer points to, for the description of a launch.
func (s *session) find(addr uint64) *launch.Memory {
	a, ok := s.memory.Find(addr)
	if !ok {
		return nil
	}
	return &launch.Memory{Name: a.Name, Addr: a.Addr, Size: a.Size}
}

// ended returns the error that a GPU would give after a launch with this result. Whatever ended it
// early leaves memory that the program must not use.
func ended(res *emu.Result) host.Error {
	if res.Status == emu.Completed {
		return host.Success
	}
	if res.Stop == nil {
		return host.LaunchFailure
	}
	switch res.Stop.Kind {
	case emu.OutOfBounds:
		return host.IllegalAddress
	case emu.Misaligned:
		return host.MisalignedAddress
	case emu.AssertFailed:
		return host.Assert
	}
	return host.LaunchFailure
}
