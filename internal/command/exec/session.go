package exec

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/host"
	"heddle/internal/lower"
	"heddle/internal/order"
	"heddle/internal/source"
)

// maxPrinted bounds the bytes that kernels print between two synchronizations: more is dropped, as
// on a GPU, whose buffer has 1 MiB unless cudaDeviceSetLimit changes it.
const maxPrinted = 64 << 20

// session is the device of one process.
type session struct {
	r      *runner
	input  string // the program in reports
	hello  host.Hello
	shared *host.Arena
	memory *emu.Arena
	sites  *host.Sites
	files  *source.Set
	driver *driver.Driver

	spare      func() bool // the process has ended by itself: it is not to be ended
	modules    map[uint32]*module
	kernels    []*kernel // by host.Kernel.ID
	problems   []diag.Verdict
	printed    output
	executing  *kernel      // whose launch is being executed
	launch     *host.Launch // that launch
	cwd        string
	libraries  []string                  // directories of the libraries that modules were compiled with
	texts      map[string][]string       // lines of the files in which memory is allocated
	names      map[uint64]string         // of allocations, by the return address of the call
	streams    *streams                  // nil while the default stream is the only one
	visible    []order.Range             // managed and pinned memory, ascending
	constants  []order.Range             // variables in constant memory, ascending
	repeats    repeats                   // what is known about launches
	triggering map[uint64]*run.Earlier   // by stream: the last launch, if the next may begin before its end
	touched    order.Touched             // by the last launch, if it was collected
	shadow     order.Shadow              // what of device memory is written; with Options.InitCheck
	device     []order.Range             // device memory, ascending; with Options.InitCheck
	unwritten  map[uninitialisedKey]bool // reads that were reported
	apart      int                       // findings that belong to no kernel
	aside      driver.Aside              // those of them that do not count
}

// newSession returns the device of a process.
func newSession(r *runner, h host.Hello, a *host.Arena) *session {
	s := &session{r: r, hello: h, shared: a, memory: emu.NewArena(host.ArenaBase, a.Bytes),
		sites: host.NewSites(h), files: r.shown, modules: make(map[uint32]*module),
		texts: make(map[string][]string), names: make(map[uint64]string)}
	s.memory.SetHeap(deviceHeap{&a.Memory})
	s.cwd, _ = os.Getwd()
	common := r.opt.Common
	common.Files = s.files
	if r.opt.Progress != nil {
		common.Progress = s.progress
	}
	s.driver = driver.New(common, s.finding)
	if s.input = s.shown(h.Path); r.opt.Name != "" && h.Process == r.process {
		s.input = r.opt.Name
	}
	s.driver.Open(s.input)
	return s
}

// finding prints a finding at once: the program may run for long, or crash.
func (s *session) finding(d diag.Diagnostic) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if d.Severity == diag.Warning && d.Suppressed == nil {
		s.r.sum.Warnings++
	}
	_ = s.r.sum.printer.Finding(&d)
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

// mark adds the launch to a finding.
func (s *session) mark(d *diag.Diagnostic) {
	notes := []string{fmt.Sprintf("in launch %d of this kernel%s", s.executing.launches,
		s.placeOf(s.launch))}
	if stack := s.stack(s.launch.Caller, s.launch.Callers); stack != "" {
		notes = append(notes, "host call stack: "+stack)
	}
	d.Notes = append(notes, d.Notes...)
}

// stack returns the host's calls that led to a launch by caller; nothing if main makes it itself.
// Functions of system headers, of libraries and of heddle's own are left out.
func (s *session) stack(caller uint64, callers []uint64) string {
	var frames []string
	for _, addr := range append([]uint64{caller}, callers...) {
		for _, f := range s.sites.Frames(addr) {
			if f.Line == 0 || strings.HasPrefix(f.File, "/usr/") || s.isForeign(f.File) {
				continue
			}
			frames = append(frames, fmt.Sprintf("%s at %s:%d", f.Func, s.shown(f.File), f.Line))
		}
	}
	if len(frames) < 2 {
		return ""
	}
	return strings.Join(frames, ", called by ")
}

// siteOf returns the place of a call in the host code. What the compiler has inlined there from
// heddle's headers, such as the constructor of the dim3 of a launch, is part of the call.
func (s *session) siteOf(caller uint64) host.Site {
	site := s.sites.Of(caller)
	if !lower.IsHeader(site.File) {
		return site
	}
	for _, f := range s.sites.Frames(caller) {
		if f.Line != 0 && !lower.IsHeader(f.File) {
			return f.Site
		}
	}
	return site
}

// isForeign reports whether a file of host code is one of heddle's headers or of a library that a
// module was compiled with.
func (s *session) isForeign(file string) bool {
	name := s.shown(file)
	return lower.IsHeader(file) || slices.ContainsFunc(s.libraries, func(dir string) bool {
		return strings.HasPrefix(name, dir)
	})
}

// placeOf is place for a launch. If a library makes it, it is that of the call of the library.
func (s *session) placeOf(l *host.Launch) string {
	if site := s.siteOf(l.Caller); site.Line == 0 || !s.isForeign(site.File) {
		return s.place(l.Caller)
	}
	for _, addr := range append([]uint64{l.Caller}, l.Callers...) {
		for _, f := range s.sites.Frames(addr) {
			if f.Line != 0 && !strings.HasPrefix(f.File, "/usr/") && !s.isForeign(f.File) {
				return fmt.Sprintf(" at %s:%d", s.shown(f.File), f.Line)
			}
		}
	}
	return s.place(l.Caller)
}

// verdict records and prints a verdict.
func (s *session) verdict(v diag.Verdict) {
	if v.Input == "" {
		v.Input = s.input
	}
	s.r.sum.Verdicts = append(s.r.sum.Verdicts, v)
	_ = s.r.sum.printer.Verdict(&v)
}

// problem records what could not be loaded: a launch that needs it fails.
func (s *session) problem(kind diag.VerdictKind, kernel, format string, args ...any) {
	s.problems = append(s.problems, diag.Verdict{Kind: kind, Kernel: kernel,
		Reason: fmt.Sprintf(format, args...)})
}

// shown returns the name of a file as reports print it: relative to the working directory if it is
// below it.
func (s *session) shown(name string) string {
	if rel, ok := strings.CutPrefix(name, s.cwd+string(filepath.Separator)); ok {
		return rel
	}
	return name
}

// place names the place of a call in the host code: " at main.cu:12", or nothing.
func (s *session) place(caller uint64) string {
	site := s.siteOf(caller)
	if site.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", s.shown(site.File), site.Line)
}

// allocatedRE matches a call that allocates, up to the variable that receives the address.
var allocatedRE = regexp.MustCompile(`\bcuda(?:Malloc|HostAlloc)\w*\s*\(\s*` +
	`(?:\(\s*void\s*\*\s*\*\s*\)\s*|reinterpret_cast<\s*void\s*\*\*\s*>\s*\(\s*)?&?\s*` +
	variableText)

// variableText matches a variable, or a member or element of one.
const variableText = `([A-Za-z_]\w*(?:(?:\.|->)\w+|\[\w+\])*)`

// receiver returns the expression that receives the result in a call at a place: d_out in
// cudaMalloc(&d_out, n), for a call that calls matches. It returns "" if the text of the line does
// not show it.
func (s *session) receiver(site host.Site, calls *regexp.Regexp) string {
	lines, ok := s.texts[site.File]
	if !ok {
		text, _ := source.ReadRegular(site.File, 1<<24) // without it there is no name
		lines = strings.Split(string(text), "\n")
		s.texts[site.File] = lines
	}
	if site.Line == 0 || site.Line > len(lines) {
		return ""
	}
	line := lines[site.Line-1]
	if m := calls.FindStringSubmatch(line[min(max(site.Col-1, 0), len(line)):]); m != nil {
		return m[1]
	}
	return ""
}

// nameOf returns the name of an allocation: "d_out, allocated at main.cu:12".
func (s *session) nameOf(a host.Allocation) string {
	at := s.place(a.Caller)
	if at == "" {
		return a.Kind.String()
	}
	if r := s.receiver(s.siteOf(a.Caller), allocatedRE); r != "" {
		return r + ", allocated" + at
	}
	return a.Kind.String() + " allocated" + at
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
		Unit: o.Unit, Fraction: o.Fraction, Color: o.Color}
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
	if s.r.opt.Leaks {
		s.leaks()
	}
	s.r.end(s, regular)
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
