package fix

import (
	"context"

	"heddle/internal/repair"
)

// A bug in a function that several kernels call cannot be repaired in the function without changing
// the others. So a kernel that has no repair is tried again with a copy of each function that it
// calls, made for this call alone. Such a repair exists in the PTX only.

// repairCalls looks for a repair of a kernel with copies of the functions that it calls. Without
// one it may have a reason why no copies can be made. The error of a text with copies that cannot
// be read is dropped: the kernel is then not repaired, with the reason of the first search.
func (x *kernelFix) repairCalls(ctx context.Context, p *parsed) (*attempt, string) {
	text, from, err := repair.Inlined(p.file, p.decls, p.kernel.Name)
	if err != nil {
		return nil, err.Error()
	}
	if text == nil {
		return nil, ""
	}
	q, err := parseKernel(x.in.Lowered.Name, p.kernel.Name, text)
	if err != nil {
		return nil, ""
	}
	j := newJudge(x.fixer, q.kernel)
	r, err := repair.Repair(ctx, q.repairable(), j, repair.Options{Atomic: x.opt.Atomic})
	if err != nil || r.Patch == nil && r.Reason == "" {
		return nil, ""
	}
	return &attempt{r, j, from}, ""
}
