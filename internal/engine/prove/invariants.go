package prove

import (
	"fmt"
	"strings"

	"heddle/internal/driver"
	"heddle/internal/verify"
)

// listInvariants prints the candidate invariants of loops: which hold, and why the others were
// dropped. Without candidates it says so: the proof had no need for any. It waits for its turn
// among the kernels, so the output does not depend on the number of workers.
func (p *Proof) listInvariants(r *verify.Result) {
	if p.opt.Invariants == nil {
		return
	}
	var out strings.Builder
	if r.Invariants == nil {
		fmt.Fprintf(&out, "invariants: kernel %s: none were needed: closed forms suffice, or every "+
			"query was decided without invariants\n", p.Job.Kernel.Demangled)
	} else {
		for _, c := range r.Invariants.Candidates {
			verdict := "holds"
			if c.Died != "" {
				verdict = "dropped: " + c.Died
			}
			header := r.Thread.Loops[c.Loop].Header
			at := header.Label
			if len(header.Instrs) > 0 {
				at = p.Job.Format(driver.Place(header.Instrs[0]).Start)
			}
			fmt.Fprintf(&out, "invariants: kernel %s: loop at %s: %s: %s: %s\n",
				p.Job.Kernel.Demangled, at, c.Rule.Name, r.Invariants.Text(c), verdict)
		}
	}
	p.Job.Turn()
	fmt.Fprint(p.opt.Invariants, out.String())
}
