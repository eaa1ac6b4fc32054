package check

import (
	"context"

	"heddle/internal/repair"
)

// copies is the repair of a kernel with copies of the functions that it calls, or the reason why there is none.
type copies struct {
	result *repair.Result
	judge  *judge
	from   []repair.Copied // by number of the instruction
}

// repairCalls looks for one; nil if it has nothing to say, and then why no copies can be made, if that is it.
func (d *driver) repairCalls(ctx context.Context, fix FixOptions, in *input, p *parsed) (*copies, string) {
	text, from, err := repair.Inlined(p.file, p.decls, p.kernel.Name)
	if err != nil {
		return nil, err.Error()
	}
	if text == nil {
		return nil, ""
	}
	q, err := parseKernel(in.lowered.Name, p.kernel.Name, text)
	if err != nil {
		return nil, ""
	}
	r, j, err := d.repair(ctx, fix, in, &repair.Kernel{File: q.file, Tree: q.tree, Func: q.kernel})
	if err != nil || r.Patch == nil && r.Reason == "" {
		return nil, ""
	}
	return &copies{r, j, from}, ""
}
