package exec

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"

	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/host"
	"heddle/internal/order"
)

// maxPrinted bounds the bytes that kernels print between two synchronizations: more is dropped, as
// on a GPU, whose buffer has 1 MiB unless cudaDeviceSetLimit changes it.
const maxPrinted = 64 << 20

// session is the device of one process, which emulates its kernels.
type session struct {
	process
	shared *host.Arena

	modules    map[uint32]*module
	printed    output
	serve      func(stuck bool) bool     // the host of a launch that waits for it; may be nil
	ending     func()                    // called before the memory of the process goes; may be nil
	streams    *streams                  // nil while the default stream is the only one
	visible    []order.Range             // managed and pinned memory, ascending
	constants  []order.Range             // variables in constant memory, ascending
	repeats    repeats                   // what is known about launches
	triggering map[uint64]*run.Earlier   // by stream: the last launch, if the next may begin before its end
	touched    order.Touched             // by the last launch, if it was collected
	shadow     order.Shadow              // what of device memory is written; with Options.InitCheck
	device     []order.Range             // device memory, ascending; with Options.InitCheck
	unwritten  map[uninitialisedKey]bool // reads that were reported
}

// newSession returns the device of a process. Its kernels are those by host.Kernel.ID.
func newSession(r *runner, h host.Hello, a *host.Arena) *session {
	s := &session{shared: a, modules: make(map[uint32]*module)}
	var progress func(driver.Progress)
	if r.opt.Progress != nil {
		progress = s.progress
	}
	s.open(r, h, emu.NewArena(host.ArenaBase, a.Bytes), progress)
	s.memory.SetHeap(deviceHeap{&a.Memory})
	return s
}

// progress tells how far the launch is that is being executed, if the program prints nothing
// meanwhile.
func (s *session) progress(p driver.Progress) {
	if s.shared.Waiting() {
		s.r.opt.Progress(&Progress{Kernel: p.Kernel, Launch: s.executing.launches, Blocks: p.Blocks,
			BlocksDone: p.BlocksDone, Steps: p.Steps})
	}
}

// Resume implements host.Device.
func (s *session) Resume() {
	if s.r.opt.Progress != nil {
		s.r.opt.Progress(nil)
	}
}

// Allocated implements host.Device. An allocation is named by its place in the host code.
func (s *session) Allocated(a host.Allocation, ordered bool) {
	name, ok := s.names[a.Caller]
	if !ok {
		name = s.nameOf(a)
		s.names[a.Caller] = name
	}
	// The allocator hands out no range twice.
	if err := s.memory.Alloc(emu.Allocation{Name: name, Addr: a.Addr, Size: a.Size,
		Space: event.Global}); err != nil {
		panic("BUG: " + err.Error())
	}
	s.show(a, true)
	if s.streams != nil && !ordered {
		s.streams.allocated(a)
	}
}

// show adds an allocation to s.visible or s.device, or removes it.
func (s *session) show(a host.Allocation, exists bool) {
	list := &s.visible
	switch {
	case a.Kind == host.DeviceMemory && s.r.opt.InitCheck:
		list = &s.device
	case a.Kind != host.ManagedMemory && a.Kind != host.PinnedMemory:
		return
	}
	r := order.Range{From: a.Addr, To: a.Addr + a.Size}
	i, found := rangeAt(*list, r.From)
	if exists {
		*list = insertRange(*list, r)
		return
	}
	if found { // memory of the device's malloc is not in the list
		*list = slices.Delete(*list, i, i+1)
	}
	s.shadow.Forget(r)
}

// rangeAt returns the index of the range that starts at an address, or that at which it would be.
func rangeAt(list []order.Range, at uint64) (index int, found bool) {
	return slices.BinarySearchFunc(list, at, func(v order.Range, at uint64) int {
		return cmp.Compare(v.From, at)
	})
}

// insertRange adds a range to an ascending list.
func insertRange(list []order.Range, r order.Range) []order.Range {
	i, _ := rangeAt(list, r.From)
	return slices.Insert(list, i, r)
}

// Waited implements host.Device.
func (s *session) Waited() { clear(s.triggering) }

// Freed implements host.Device.
func (s *session) Freed(a host.Allocation, caller uint64, ordered bool) {
	s.show(a, false)
	clear(s.triggering)
	if s.streams != nil {
		s.streams.freed(a, ordered)
	}
	if err := s.memory.FreeAt(a.Addr, s.place(caller)); err != nil {
		panic("BUG: " + err.Error())
	}
}

// BadFree implements host.Device. It is no finding: the call has failed, and the program may test
// just that.
func (s *session) BadFree(addr, caller uint64) {
	what := s.memory.Freed(addr)
	switch al, ok := s.memory.Find(addr); {
	case ok && al.Addr == addr:
		what = al.Name + " (cudaFree is for device and managed memory, cudaFreeHost for pinned memory)"
	case what == "":
		what = fmt.Sprintf("%#x, which is not the start of an allocation", addr)
	}
	s.r.note("the free%s failed: it frees %s", s.place(caller), what)
}

// Object implements host.Device.
func (s *session) Object(handle uint64, o *host.Object) {
	t := emu.Texture{Addr: o.Addr, Pitch: o.Pitch, Slice: o.Slice, Size: o.Size, Layers: o.Layers,
		Channels: uint8(o.Channels), Bits: uint8(o.Bits), Kind: emu.TexelKind(o.Kind),
		Surface: o.Surface, Cube: o.Cube, Layered: o.Layered, Linear: o.Linear, Filter: o.Filter,
		Unit: o.Unit, Fraction: o.Fraction, SRGB: o.SRGB, Color: o.Color,
		Mipmap: emu.Mipmap{Blend: o.Blend, Bias: o.Bias, Min: o.MinLevel, Max: o.MaxLevel}}
	for _, l := range o.Levels {
		t.Mipmap.Levels = append(t.Mipmap.Levels, emu.Level(l))
	}
	for i, m := range o.Address {
		t.Address[i] = emu.Addressing(m)
	}
	// The runtime creates no others; without the object its use is reported.
	if err := s.memory.SetTexture(handle, t); err != nil {
		s.r.note("a texture object of %s is not usable: %v", s.hello.Path, err)
	}
}

// ObjectGone implements host.Device.
func (s *session) ObjectGone(handle uint64) { s.memory.DropTexture(handle) }

// Reset implements host.Device.
func (s *session) Reset() {
	if s.streams != nil {
		s.streams.synchronized()
	}
	for _, m := range s.modules {
		m.initialise(s)
	}
}

// Unsupported implements host.Device.
func (s *session) Unsupported(name string) { s.r.unsupported(name) }

// Printed implements host.Device.
func (s *session) Printed() []byte { return s.printed.take() }

// Ended implements host.Device.
func (s *session) Ended(regular bool) {
	if s.ending != nil {
		s.ending()
	}
	if s.r.opt.Leaks {
		s.leaks()
	}
	s.r.end(&s.process, regular)
}

// output is what kernels have printed. Blocks that run side by side write to it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() < maxPrinted {
		o.buf.Write(b)
	}
	return len(b), nil
}

// take returns what was written since the last call.
func (o *output) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() == 0 {
		return nil
	}
	out := bytes.Clone(o.buf.Bytes())
	o.buf.Reset()
	return out
}

var _ io.Writer = (*output)(nil)

// deviceHeap is the memory of the device's malloc.
type deviceHeap struct{ memory *host.Memory }

// Malloc implements emu.Heap.
func (h deviceHeap) Malloc(n uint64) (uint64, bool) {
	a, err := h.memory.Alloc(max(n, 1), host.DeviceMemory, 0)
	return a.Addr, err == host.Success
}

// Free implements emu.Heap.
func (h deviceHeap) Free(addr uint64) { _, _ = h.memory.Free(addr) }
