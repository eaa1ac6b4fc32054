package exec

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/host"
)

// leaks reports the memory that the program has not freed, once for each call that allocates.
// Memory of the device's malloc has no such call and is not reported.
func (s *session) leaks() {
	type leak struct {
		first        host.Allocation
		count, bytes uint64
	}
	var order []uint64
	found := make(map[uint64]*leak)
	for _, a := range s.shared.Memory.Live() {
		if a.Caller == 0 {
			continue
		}
		l := found[a.Caller]
		if l == nil {
			l = &leak{first: a}
			found[a.Caller] = l
			order = append(order, a.Caller)
		}
		l.count++
		l.bytes += a.Size
	}
	for _, caller := range order {
		l := found[caller]
		what := l.first.Kind.String()
		if name := s.receiver(s.siteOf(caller), allocatedRE); name != "" {
			what = fmt.Sprintf("%s (%s)", name, what)
		}
		times := "1 allocation"
		if l.count > 1 {
			times = fmt.Sprintf("%d allocations", l.count)
		}
		s.hostFinding(diag.Diagnostic{Code: diag.CodeLeak, Severity: diag.Error,
			Message:   fmt.Sprintf("%d bytes in %s of %s are never freed", l.bytes, times, what),
			Span:      s.span(caller),
			Label:     "allocated here",
			Reproduce: s.r.opt.Command})
	}
}
