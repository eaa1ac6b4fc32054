package exec

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/order"
)

// uninitialised reports device memory that a launch reads and that neither a copy, a memset, an
// earlier launch nor the launch itself has written. Managed and pinned memory is the host's as
// well, whose stores cannot be seen. What a launch accesses atomically counts as written.
func (s *session) uninitialised(by *reader, accesses order.Accesses) {
	for _, a := range []order.Access{order.Write, order.StrongWrite} {
		for _, r := range accesses[a] {
			s.shadow.Write(r)
		}
	}
	for _, a := range []order.Access{order.Read, order.StrongRead} {
		at := s.device
		for _, r := range accesses[a] {
			for len(at) > 0 && at[0].To <= r.From {
				at = at[1:]
			}
			if len(at) == 0 {
				break
			}
			if r.From < at[0].From {
				continue // not device memory; a read never continues in another allocation
			}
			if first, bytes := s.shadow.Missing(r); bytes > 0 {
				s.reportUninitialised(by, at[0], first, bytes)
			}
		}
	}
}

// reader is what reads memory: a launch, or work of a library.
type reader struct {
	kernel *kernel // nil for a library
	name   string
	caller uint64
	label  string // of the place of the call
}

// reportUninitialised reports a read, once for a kernel or a call of a library and an allocation.
func (s *session) reportUninitialised(by *reader, in, first order.Range, bytes uint64) {
	key := uninitialisedKey{kernel: by.kernel, addr: in.From}
	if by.kernel == nil {
		key.caller = by.caller
	}
	if s.unwritten[key] {
		return
	}
	if s.unwritten == nil {
		s.unwritten = make(map[uninitialisedKey]bool)
	}
	s.unwritten[key] = true
	memory, _ := s.memory.Find(first.From)
	d := diag.Diagnostic{Code: diag.CodeUninitialised, Severity: diag.Error,
		Message: fmt.Sprintf("%s reads uninitialized memory: %d bytes of %s, from byte %d on", by.name,
			bytes, memory.Name, first.From-in.From),
		Span: s.span(by.caller), Label: by.label,
		Notes: []string{"no copy, memset or launch before has written these bytes, and this launch " +
			"has not either"},
		Reproduce: s.r.opt.Command}
	if by.kernel == nil {
		d.Notes[0] = "no copy, memset or launch before has written these bytes"
		s.hostFinding(d)
		return
	}
	d.Kernel = by.kernel.fn.Demangled
	by.kernel.watch.Report(d)
}

// uninitialisedKey is a kernel or the place of a call of a library, and the address of an
// allocation.
type uninitialisedKey struct {
	kernel *kernel
	caller uint64
	addr   uint64
}
