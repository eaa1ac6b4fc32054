package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"heddle/internal/command/fix"
	"heddle/internal/diag"
	"heddle/internal/engine/placement"
	"heddle/internal/engine/prove"
	"heddle/internal/lsp"
	"heddle/internal/source"
)

// editorRepair bounds a repair that an editor requests. It is longer than hoverTime, because the
// user asked for it, sees progress and can cancel it.
const editorRepair = 20 * time.Second

// Repair implements lsp.Repairer with the engines of heddle sync and heddle fix. It returns the
// files that the edits refer to, the edits, and a text that states the result. Without edits the
// text says why.
func (e *editorEngine) Repair(ctx context.Context, req lsp.Request) (*source.Set, []diag.Fix,
	string, error) {
	report := &lsp.Report{Files: source.NewSet()}
	opt, inputs, err := e.prepare(req, report)
	if err != nil {
		return nil, nil, "", err
	}
	if inputs == nil && len(report.Findings) == 0 {
		return report.Files, nil, "heddle repairs CUDA, OpenCL and PTX only", nil
	}
	if inputs == nil {
		return report.Files, nil, "the configuration file has errors", nil
	}
	var say []string
	mistake := func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			say = append(say, d.Message)
		}
	}
	var edits []diag.Edit
	req.Progress(req.Kernel + ": " + string(req.Mode))
	// Both commands get a copy of the document, not the file: it may not have been saved.
	if req.Mode == lsp.Fix {
		res, err := fix.File(ctx, fix.Options{Common: opt, Source: true, Budget: editorRepair},
			inputs[0], mistake)
		if err != nil {
			return nil, nil, "", err
		}
		for i := range res.Fixes {
			say = append(say, fixSays(&res.Fixes[i]))
		}
		edits = res.Edits
	} else {
		limit := prove.Options{Timeout: editorRepair}
		res, err := placement.File(ctx, placement.Options{Common: opt, Prove: limit}, inputs[0], mistake)
		if err != nil {
			return nil, nil, "", err
		}
		for i := range res.Kernels {
			say = append(say, syncSays(&res.Kernels[i]))
		}
		edits = res.Edits
	}
	note := strings.Join(say, "\n")
	if len(edits) == 0 {
		return opt.Files, nil, note, nil
	}
	return opt.Files, []diag.Fix{{Message: "heddle " + string(req.Mode), Edits: edits}}, note, nil
}

// fixSays returns the result of a repair in one line.
func fixSays(f *fix.Kernel) string {
	say := fmt.Sprintf("%s: kernel %s", f.Status, f.Kernel)
	switch {
	case f.Status == fix.NotRepaired:
		say += ": no repair found: " + f.Why
	case f.Status == fix.PartlyRepaired:
		say += ": " + strings.Join(f.Remaining, "; ")
	case f.PTXOnly != "":
		say += ": in the PTX only (heddle fix --emit ptx), because " + f.PTXOnly
	case f.Why != "":
		say += ": " + f.Why
	}
	return say
}

// syncSays returns the result of a search for barriers in one line.
func syncSays(k *placement.Kernel) string {
	say := fmt.Sprintf("%s: kernel %s", k.Status, k.Kernel)
	if len(k.Stuck) > 0 {
		say += ": " + strings.Join(k.Stuck, "; ")
	}
	return say
}
