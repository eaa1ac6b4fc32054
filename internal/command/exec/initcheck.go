package exec

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/host"
	"heddle/internal/order"
)

// uninitialised reports device memory that a launch reads and that neither a copy, a memset, an
// earlier launch nor the launch itself has written. Managed and pinned memory is the host's as well,
// whose stores cannot be seen. What a launch accesses atomically counts as written.
func (s *session) uninitialised(k *kernel, l *host.Launch, accesses order.Accesses) {
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
				s.reportUninitialised(k, l, at[0], first, bytes)
			}
		}
	}
}

// reportUninitialised reports a read, once for a kernel and an allocation.
func (s *session) reportUninitialised(k *kernel, l *host.Launch, in, first order.Range,
	bytes uint64) {
	key := uninitialisedKey{k, in.From}
	if s.unwritten[key] {
		return
	}
	if s.unwritten == nil {
		s.unwritten = make(map[uninitialisedKey]bool)
	}
	s.unwritten[key] = true
	memory, _ := s.memory.Find(first.From)
	k.watch.Report(diag.Diagnostic{Code: diag.CodeUninitialised, Severity: diag.Error,
		Message: fmt.Sprintf("launch %d of %s reads uninitialized memory: %d bytes of %s, from byte %d "+
			"on", k.launches, k.fn.Demangled, bytes, memory.Name, first.From-in.From),
		Span: s.span(l.Caller), Label: "launched here", Kernel: k.fn.Demangled,
		Notes:     []string{"no copy, memset or launch before has written these bytes, nor has this launch"},
		Reproduce: s.r.opt.Command})
}

// uninitialisedKey is a kernel and the address of an allocation.
type uninitialisedKey struct {
	kernel *kernel
	addr   uint64
}
