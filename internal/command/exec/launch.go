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
	"heddle/internal/order"
)

// kernel is a kernel that the program has asked for.
type kernel struct {
	fn       *ir.Func
	module   *module
	code     *emu.Program
	watch    *run.Program
	shapes   map[shape]*history
	launches uint64 // requested, executed or not
	triggers bool   // run.Triggers
	joined   bool   // with functions or variables of other modules
	file     string // of saved launches, without the number
	time     time.Duration

	sites []event.Site // of a program on a GPU: those of the emulator, for each of the module's log
	// Of a program on a GPU: launches that logged and what they logged, and those that were timed
	// without a log.
	logged, records, bytes, timed, less uint64
	plain                               time.Duration
}

// shape is what the memory accesses of a kernel depend on first.
type shape struct {
	grid, block, cluster event.Dim3
	shared               uint64
}

// history is what is known from the launches of one shape.
type history struct {
	executed uint64
	large    bool // the race detector ran out of memory
}

// row is the kernel in the table at the end.
func (k *kernel) row() Kernel {
	_, checked, lanes := k.watch.Launches()
	return Kernel{Name: k.fn.Demangled, Launches: k.launches, Checked: checked,
		Repeated: k.watch.Repeated(), LaneInstructions: lanes, Findings: k.watch.Bugs(),
		Shapes: len(k.shapes), Time: k.time, Logged: k.logged, Records: k.records, LogBytes: k.bytes,
		Timed: k.timed, Plain: k.plain, Less: k.less}
}

// Launch implements host.Device.
func (s *session) Launch(l *host.Launch) host.Error {
	if int(l.Kernel) >= len(s.kernels) || l.Shared > math.MaxUint32 {
		return host.LaunchFailure
	}
	k := s.kernels[l.Kernel]
	k.launches++
	if c := k.fn.ReqCluster; c.Count() > 0 && l.Cluster.Count() == 1 { // __cluster_dims__
		if l.Grid.X%c.X != 0 || l.Grid.Y%c.Y != 0 || l.Grid.Z%c.Z != 0 {
			return host.InvalidConfiguration
		}
		l.Cluster = c
	}
	start := time.Now()
	defer func() { k.time += time.Since(start) }()
	sh := shape{l.Grid, l.Block, l.Cluster, l.Shared}
	of := k.shapes[sh]
	if of == nil {
		of = new(history)
		k.shapes[sh] = of
	}
	check := s.r.opt.Check.Watches(of.executed) && !of.large
	k.watch.Before = s.before(l)
	a := s.attempt(l)
	if a.repeats() && (a.checked || !check) && k.watch.Before == nil {
		s.repeat(k, l, a.result)
		return host.Success
	}
	of.executed++
	return s.execute(k, of, l, a, check)
}

// repeat does what a launch would do whose result is known.
func (s *session) repeat(k *kernel, l *host.Launch, r *result) {
	s.replay(r)
	k.watch.Repeat(r.checked)
	if s.compared(l.Stream) {
		s.launched(k, l, r.accesses, r.fenced, true)
	}
	s.triggered(k, l, r.accesses)
	s.executed(k, l, Executed{Checked: r.checked})
}

// execute executes a launch, and adds to the history of its shape.
func (s *session) execute(k *kernel, of *history, l *host.Launch, a attempt,
	check bool) host.Error {
	params := bytes.Clone(l.Params) // findings keep them
	cfg := launch.OfProgram(k.fn, event.Geometry{Grid: l.Grid, Block: l.Block, Cluster: l.Cluster},
		uint32(l.Shared), params, s.find)
	machine, err := k.code.Machine(cfg, params)
	if err != nil {
		s.problem(diag.Unsupported, k.fn.Demangled, "launch %d%s: %v", k.launches, s.placeOf(l),
			err)
		return host.LaunchFailure
	}
	s.first(a, machine)
	if check && s.r.opt.Save != "" {
		s.save(k, cfg, params, l.Cooperative)
	}
	s.executing, s.launch = k, l
	compared := s.compared(l.Stream)
	k.watch.Touched = nil
	if compared || a.result != nil || k.triggers {
		s.touched.Reset()
		k.watch.Touched = &s.touched
	}
	found := k.watch.Bugs()
	k.watch.Host, k.watch.Outside = s.serve, nil
	if s.serve == nil && len(s.visible) > 0 {
		k.watch.Outside = s.patience()
	}
	res, err := k.watch.Launch(s.r.ctx, cfg, machine, check)
	done := err == nil && res.Status == emu.Completed
	of.large = of.large || err == nil && res.Dropped
	if k.watch.Touched != nil {
		accesses, all := s.touched.Accesses()
		if a.result != nil {
			s.learn(a, accesses, s.touched.Fenced, all && done, check && !res.Dropped)
		}
		if compared {
			s.launched(k, l, accesses, s.touched.Fenced, all)
		}
		s.triggered(k, l, accesses)
	}
	s.executed(k, l, Executed{Checked: check, Failed: !done, Found: k.watch.Bugs() > found})
	if err != nil {
		return host.LaunchFailure
	}
	return ended(res)
}

// The program may set a flag for which a running kernel waits. It is given hostPatience, and less
// while it waits for a reply that depends on the kernel's end: then only another thread of it can.
const (
	hostPatience    = 10 * time.Second
	replyPatience   = time.Second
	patienceAtATime = time.Millisecond
)

// patience returns what waits for the program when all threads of a launch only poll memory, at
// most hostPatience in all (emu.Options.Outside).
func (s *session) patience() func() bool {
	var waited, replying time.Duration
	return func() bool {
		if waited >= hostPatience || replying >= replyPatience {
			return false
		}
		time.Sleep(patienceAtATime)
		waited += patienceAtATime
		switch {
		case !s.shared.Waiting():
		case s.shared.Answer():
			replying = 0
		default:
			replying += patienceAtATime
		}
		return true
	}
}

// executed adds a launch to the timeline. e has how it went.
func (s *session) executed(k *kernel, l *host.Launch, e Executed) {
	e.Process, e.Kernel, e.Number = s.hello.Process, k.fn.Demangled, k.launches
	e.Stream, e.Place = s.streamOf(l.Stream), strings.TrimPrefix(s.placeOf(l), " at ")
	s.r.add(e)
}

// launchText names the last launch of the kernel in messages.
func (k *kernel) launchText() string {
	return fmt.Sprintf("launch %d of %s", k.launches, k.fn.Demangled)
}

// before returns the launch before one in its stream, if the one may begin before that has ended:
// it has the attribute, and the kernel before lets it. It may be called once for a launch.
func (s *session) before(l *host.Launch) *run.Earlier {
	e := s.triggering[l.Stream]
	delete(s.triggering, l.Stream)
	if !l.Dependent {
		return nil
	}
	return e
}

// triggered notes a launch that lets the next one of its stream begin before it has ended.
func (s *session) triggered(k *kernel, l *host.Launch, accesses order.Accesses) {
	if !k.triggers {
		return
	}
	if s.triggering == nil {
		s.triggering = make(map[uint64]*run.Earlier)
	}
	s.triggering[l.Stream] = &run.Earlier{What: k.launchText(), Place: s.placeOf(l),
		Accesses: accesses}
}

// save writes a launch to a file before it is executed. A failure is a note at the end: the program
// runs on.
func (s *session) save(k *kernel, cfg *launch.Config, params []byte, cooperative bool) {
	if k.file == "" {
		k.file = s.r.fileFor(launch.BaseName(k.fn.Demangled))
		if s.r.opt.SavePTX {
			s.savePTX(k)
		}
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

// savePTX writes the PTX of a kernel beside its saved launches. That of several files cannot be
// read as one module.
func (s *session) savePTX(k *kernel) {
	if k.joined {
		s.r.note("the PTX of %s is not saved: it uses functions or variables of other files",
			k.fn.Demangled)
		return
	}
	if err := os.WriteFile(k.file+".ptx", k.module.driver.Lowered.PTX, 0o666); err != nil {
		s.r.note("the PTX of %s is not saved: %v", k.fn.Demangled, err)
	}
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
	switch res.Stop.InGrid() {
	case emu.OutOfBounds:
		return host.IllegalAddress
	case emu.Misaligned:
		return host.MisalignedAddress
	case emu.AssertFailed:
		return host.Assert
	}
	return host.LaunchFailure
}
