package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/isa"
)

// noncoherent looks for loads through the texture proxy (ld.global.nc, ldu) of an array that the kernel also writes. They
// are ordered with no write of the kernel, whatever barriers there are and whichever thread writes (PTX ISA 8.6, 8.9.5), so
// that barrier intervals do not speak for them. There is no proof then; arrays are not looked into.
func (th *Thread) noncoherent() error {
	for i := range th.Accesses {
		load := &th.Accesses[i]
		if load.Kind != event.Read || !load.Instr.Has(isa.NC) && load.Instr.Op() != "ldu" {
			continue
		}
		for k := range th.Accesses {
			if w := &th.Accesses[k]; w.Kind.Writes() && w.Space != event.Shared && (w.Object == nil || load.Object == nil || w.Object == load.Object) {
				return &UnsupportedError{Instr: load.Instr, What: fmt.Sprintf("%s of an array that the kernel also writes", load.Instr.Text())}
			}
		}
	}
	return nil
}
