package exec

import (
	"errors"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/host"
	"heddle/internal/library"
	"heddle/internal/order"
)

// Work implements host.Device. It is computed at once: launches before it have ended.
func (s *session) Work(w *host.Work) ([]byte, host.Error) {
	res, err := library.Do(&library.Call{Function: library.Function(w.Function), Name: w.Name,
		Device: w.Device, Args: w.Args}, deviceMemory{s.memory, s.shared})
	var bad *library.OperandError
	switch {
	case errors.As(err, &bad):
		s.badOperand(w, bad)
		if errors.Is(err, library.ErrMisaligned) {
			return nil, host.MisalignedAddress
		}
		return nil, host.IllegalAddress
	case err != nil:
		s.r.unsupported(err.Error())
		return nil, host.NotSupported
	}
	s.r.computed(w.Name)
	delete(s.triggering, w.Stream)
	if w.Stream != order.Legacy {
		s.ordered()
	}
	if s.streams != nil {
		s.streams.add(w.Stream, &operation{what: w.Name, caller: w.Caller}, res.Accesses, false)
	}
	if s.r.opt.InitCheck {
		s.uninitialised(&reader{name: w.Name, caller: w.Caller, label: "called here"}, res.Accesses)
	}
	return res.Value, host.Success
}

// badOperand reports an operand that is not in device memory.
func (s *session) badOperand(w *host.Work, bad *library.OperandError) {
	d := diag.Diagnostic{Code: diag.CodeOutOfBounds, Severity: diag.Error,
		Message: w.Name + " " + bad.Error(), Span: s.span(w.Caller), Label: "called here",
		Reproduce: s.r.opt.Command}
	if errors.Is(bad, library.ErrMisaligned) {
		d.Code = diag.CodeMisaligned
	}
	s.hostFinding(d)
}

// deviceMemory is what library.Do accesses.
type deviceMemory struct {
	arena  *emu.Arena
	shared *host.Arena
}

// Bytes implements library.Memory.
func (m deviceMemory) Bytes(addr, n uint64) ([]byte, error) {
	at := addr - host.ArenaBase
	al, ok := m.arena.Find(addr)
	switch freed := m.arena.Freed(addr); {
	case at >= host.ArenaSize:
		return nil, fmt.Errorf("address %#x, which is not device memory", addr)
	case freed != "":
		return nil, fmt.Errorf("%s (use after free)", freed)
	case !ok:
		return nil, fmt.Errorf("address %#x, where nothing is allocated", addr)
	case n > al.Size-(addr-al.Addr):
		first := addr - al.Addr
		return nil, fmt.Errorf("bytes %d-%d of %s, which has %d bytes", first, first+n-1, al.Name, al.Size)
	}
	return m.shared.Bytes[at : at+n : at+n], nil
}
