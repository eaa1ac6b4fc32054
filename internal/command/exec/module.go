package exec

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/host"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/order"
	"heddle/internal/ptx/instrument"
)

// module is a fat binary of the program: in a program that heddle built, the PTX of one file.
type module struct {
	driver  *driver.Module     // nil: it could not be read, and a problem says why
	logging *instrument.Result // of a program on a GPU
	proofs  map[*ir.Func]*prove.FreeAccesses
	places  map[*ir.Var]*launch.Memory // of its variables on the GPU
	vars    map[*ir.Var]uint64
	linked  map[*ir.Var]uint64 // vars, and those of the modules with which it is linked
	omitted map[string]string  // kernels that are not in the PTX, with the reasons
	managed []string
	asked   map[string]bool // kernels that were not found and reported
}

// Load implements host.Device.
func (s *session) Load(id uint32, image []byte, managed []string) {
	m := &module{vars: make(map[*ir.Var]uint64), linked: make(map[*ir.Var]uint64),
		omitted: make(map[string]string), managed: managed,
		asked: make(map[string]bool)}
	s.modules[id] = m
	text, err := ptxOf(image)
	if err != nil {
		s.problem(diag.Unsupported, "", "module %d of %s cannot be loaded: %v", id+1, s.hello.Path, err)
		return
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(lower.OmittedMark)); ok {
			name, reason, _ := strings.Cut(strings.TrimSpace(string(rest)), " ")
			m.omitted[name] = reason
		}
	}
	text = s.relative(text)
	name := fmt.Sprintf("%s.module%d.ptx", s.hello.Path, id+1)
	if _, _, err := s.parse(m, name, text); err != nil {
		s.problem(diag.Unsupported, "", "module %d of %s cannot be loaded: %v", id+1, s.hello.Path, err)
		return
	}
	s.allocate(m)
}

// Loaded implements host.Device.
func (s *session) Loaded(id uint32) host.Error {
	if m := s.modules[id]; m == nil || m.driver == nil {
		return host.InvalidKernelImage
	}
	return host.Success
}

// ptxOf returns the PTX of an image: the image itself, or the longest one in a fat binary of nvcc.
func ptxOf(image []byte) ([]byte, error) {
	if !bytes.HasPrefix(image, []byte{0x50, 0xed, 0x55, 0xba}) {
		return image, nil
	}
	in := lower.Input{Name: "fatbin", Content: image, Lang: lower.Binary}
	results, err := lower.Lower(context.Background(), in, lower.Options{})
	if err != nil {
		return nil, err
	}
	best := slices.MaxFunc(results, func(a, b *lower.Result) int { return len(a.PTX) - len(b.PTX) })
	return best.PTX, nil
}

// allocate gives the variables of a module memory, and their first values.
func (s *session) allocate(m *module) {
	for _, v := range emu.MemoryVars(m.driver.IR) {
		var a host.Allocation
		var failed host.Error
		if slices.Contains(m.managed, v.Name) {
			a, failed = s.shared.Memory.AllocPages(uint64(v.Size))
		} else {
			a, failed = s.shared.Memory.Alloc(uint64(v.Size), host.Variable, 0)
		}
		if failed != host.Success {
			s.problem(diag.Unsupported, "", "variable %s of %d bytes has no room in the device's memory",
				v.Name, v.Size)
			continue
		}
		name := v.Source
		if name == "" {
			name = v.Name
		}
		if err := s.memory.Alloc(emu.Allocation{Name: name, Addr: a.Addr, Size: a.Size,
			Space: v.Space, Shape: &v.Shape}); err != nil {
			panic("BUG: " + err.Error())
		}
		m.vars[v] = a.Addr
		at := order.Range{From: a.Addr, To: a.Addr + a.Size}
		switch {
		case slices.Contains(m.managed, v.Name):
			s.visible = insertRange(s.visible, at)
		case v.Space == event.Const:
			s.constants = insertRange(s.constants, at)
		}
	}
	m.initialise(s)
}

// initialise stores the first values of the variables of a module.
func (m *module) initialise(s *session) {
	for v, addr := range m.vars {
		init, err := s.memory.InitVar(v, m.vars)
		if err != nil {
			s.problem(diag.Unsupported, "", "variable %s: %v", v.Name, err)
			continue
		}
		to := s.shared.Bytes[addr-host.ArenaBase:][:v.Size]
		clear(to[copy(to, init):])
	}
}

// Kernel implements host.Device.
func (s *session) Kernel(id uint32, name string) (*host.Kernel, host.Error) {
	m := s.modules[id]
	if m == nil || m.driver == nil {
		return nil, host.InvalidKernelImage // reported by Load
	}
	named := func(f *ir.Func) bool { return f.Kernel && f.Name == name }
	i := slices.IndexFunc(m.driver.IR.Funcs, named)
	if i < 0 {
		if reason, ok := m.omitted[name]; ok && !m.asked[name] {
			s.problem(diag.Unsupported, name, "%s", reason)
		} else if !m.asked[name] {
			s.problem(diag.Unsupported, name, "the program launches it, and its module does not have it")
		}
		m.asked[name] = true
		return nil, host.InvalidDeviceFunction
	}
	f := m.driver.IR.Funcs[i]
	others := s.link(m)
	code, err := emu.NewProgram(f, s.memory, m.linked, others...)
	if err != nil {
		s.problem(diag.Unsupported, f.Demangled, "%v", err)
		return nil, host.InvalidDeviceFunction
	}
	k := &kernel{fn: f, module: m, code: code, joined: len(others) > 0,
		shapes: make(map[shape]*history), triggers: run.Triggers(f)}
	k.watch = run.NewProgram(s.driver.Job(m.driver, f), &run.Options{})
	k.watch.Reproduce, k.watch.Printf, k.watch.Mark = s.r.opt.Command, &s.printed, s.mark
	s.kernels = append(s.kernels, k)
	return s.describe(k, uint32(len(s.kernels)-1)), host.Success
}

// architecture returns the number of an architecture: 90 for sm_90a.
func architecture(target string) uint32 {
	digits := strings.TrimRight(strings.TrimPrefix(target, "sm_"), "af")
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// describe returns what the program may know about a kernel.
func (s *session) describe(k *kernel, id uint32) *host.Kernel {
	_, shared := ir.Layout(k.fn)
	out := &host.Kernel{ID: id, Bytes: uint32(k.code.ParamBytes()), Shared: uint32(shared),
		Registers: 32, PTX: architecture(k.module.driver.IR.Target),
		Cluster: uint32(k.fn.ReqCluster.Count())}
	for _, p := range k.fn.Params {
		out.Parameters = append(out.Parameters,
			host.Parameter{Offset: uint32(p.Offset), Size: uint32(p.Size)})
	}
	limit := k.fn.MaxNTID
	if limit.Count() == 0 {
		limit = k.fn.ReqNTID
	}
	out.MaxThreads = uint32(limit.Count())
	return out
}

// Symbol implements host.Device.
func (s *session) Symbol(id uint32, name string) (addr, size uint64, err host.Error) {
	if m := s.modules[id]; m != nil && m.driver != nil {
		s.link(m)
		for v, at := range m.vars {
			if v.Name == name {
				return at, uint64(v.Size), host.Success
			}
		}
	}
	return 0, 0, host.InvalidSymbol
}
