package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/command/fix"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/repair/between"
	"heddle/internal/source"
)

// repairs is the result of fix.
type repairs struct {
	Schema    int       `json:"schema_version"`
	Kernels   []repair  `json:"kernels"`
	Findings  []finding `json:"findings"`
	Diff      string    `json:"diff"`
	File      string    `json:"file,omitempty"`
	Patched   string    `json:"patched,omitempty"`
	Truncated string    `json:"truncated,omitempty"`
	Next      []next    `json:"next"`
}

// repair is the repair of one kernel.
type repair struct {
	Kernel    string   `json:"kernel"`
	Status    string   `json:"status"`
	Changes   []change `json:"changes,omitempty"`
	Remaining []string `json:"remaining,omitempty"`
	Redundant []change `json:"redundant,omitempty"`
	Why       string   `json:"why,omitempty"`
	Verdict   string   `json:"verdict"`
	Scope     string   `json:"scope,omitempty"`
	Source    string   `json:"source_verdict,omitempty"`
	PTXOnly   string   `json:"ptx_only,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// change is one change of a repair.
type change struct {
	Place string   `json:"place"`
	What  string   `json:"what"`
	Why   []string `json:"why,omitempty"`
}

// fix answers a call of fix.
func (s *Server) fix(ctx context.Context, c *call, in *fixInput) (*answer, error) {
	opt := fix.Options{Source: true, Budget: c.limit}
	for _, word := range in.Allow {
		switch m, ok := between.ParseMeans(word); {
		case ok:
			opt.Between = append(opt.Between, m)
		case word == "atomic":
			opt.Atomic = true
		default:
			return nil, fmt.Errorf("allow: %q; expected atomic, grid-sync, split or double-buffer", word)
		}
	}
	common, inputs, err := s.prepare(c, &in.codeInput, &in.launchInput, nil)
	switch {
	case err != nil:
		return nil, err
	case len(inputs) != 1:
		return nil, errors.New("fix repairs one file; give its path instead of that of a directory")
	}
	opt.Common = common
	var found collected
	res, err := fix.File(ctx, opt, inputs[0], func(d diag.Diagnostic) { _ = found.Finding(&d) })
	if err != nil {
		return nil, err
	}
	if why := driver.Stopped(ctx); why != "" && len(res.Fixes) == 0 {
		return nil, fmt.Errorf("nothing was examined: %s; give a longer timeout, of at most %v", why,
			s.opt.Timeout)
	}
	out := found.repairs(res, in.Path == "")
	out.Next = s.nextOfFix(in, res, c.limit)
	return &answer{object: out, text: found.repairText(out, res), failed: len(res.Fixes) == 0}, nil
}

// repairs returns the object of a result. found has the mistakes in the source, and receives the
// findings of the kernels.
func (found *collected) repairs(res *fix.Result, inline bool) *repairs {
	out := &repairs{Schema: SchemaVersion, Kernels: []repair{}}
	for i := range res.Fixes {
		f := &res.Fixes[i]
		for _, d := range f.Wrong {
			d.Help, d.Fixes = nil, nil // the repair knows better
			found.findings = append(found.findings, d)
		}
		k := repair{Kernel: f.Kernel, Status: f.Status.String(), Changes: changes(f.Changes, res.Files),
			Remaining: cutAll(f.Remaining), Redundant: changes(f.Redundant, res.Files), Why: cut(f.Why),
			Verdict: f.Verdict(), Scope: cut(f.After.Scope), PTXOnly: cut(f.PTXOnly),
			Notes: cutAll(f.Notes)}
		if len(f.Edits) > 0 {
			k.Source = f.Source.Kind.String()
		}
		out.Kernels = append(out.Kernels, k)
	}
	out.Findings = found.objects(res.Files, inline)
	var cuts []string
	if n := len(found.findings) - len(out.Findings); n > 0 {
		cuts = append(cuts, fmt.Sprintf("%s left out", counted(n, "finding")))
	}
	if res.User != nil && res.Diff != "" {
		out.patch(res, &cuts)
	}
	out.Truncated = strings.Join(cuts, "; ")
	return out
}

// patch adds the diff, and the patched text if it is short.
func (out *repairs) patch(res *fix.Result, cuts *[]string) {
	var short bool
	if out.Diff, short = shorten(res.Diff, mostPatch); short {
		*cuts = append(*cuts, "diff is cut; call fix for one kernel at a time (kernel)")
	}
	out.File = res.User.Name
	if len(res.Patched) > mostPatch {
		*cuts = append(*cuts, fmt.Sprintf(
			"patched is left out, because the file has %d bytes; apply diff", len(res.Patched)))
		return
	}
	out.Patched = strings.ToValidUTF8(string(res.Patched), "\uFFFD")
}

// changes returns the objects of changes.
func changes(list []fix.Change, files *source.Set) []change {
	var out []change
	for _, ch := range list {
		out = append(out, change{files.Format(ch.Span.Start), cut(ch.Text), cutAll(ch.Why)})
	}
	return out
}

// repairText returns the result for those who read text only.
func (found *collected) repairText(out *repairs, res *fix.Result) string {
	var b bytes.Buffer
	if len(out.Kernels) == 0 {
		b.WriteString("error: nothing was examined\n\n")
	}
	for i := range out.Kernels {
		k := &out.Kernels[i]
		fmt.Fprintf(&b, "%s: kernel %s (%s)\n", k.Status, k.Kernel, k.Verdict)
		for _, ch := range k.Changes {
			fmt.Fprintf(&b, "  %s: %s\n", ch.Place, ch.What)
		}
		for _, say := range []struct{ key, text string }{{"why", k.Why},
			{"not in the source", k.PTXOnly}, {"not repaired", strings.Join(k.Remaining, "; ")},
			{"note", strings.Join(k.Notes, "; ")}} {
			if say.text != "" {
				fmt.Fprintf(&b, "  %s: %s\n", say.key, say.text)
			}
		}
	}
	if out.Diff != "" {
		fmt.Fprintf(&b, "\n%s\n", out.Diff)
	}
	p := diag.NewText(&b, res.Files, false)
	for i := range out.Findings {
		_ = p.Finding(&found.findings[i]) // a buffer has no errors
	}
	_ = p.Close()
	return endText(b.String(), out.Truncated, out.Next)
}

// nextOfFix returns the calls that make sense after a repair.
func (s *Server) nextOfFix(in *fixInput, res *fix.Result, limit time.Duration) []next {
	same := again(in, "allow")
	is := func(list ...fix.Status) bool {
		return slices.ContainsFunc(res.Fixes, func(k fix.Kernel) bool {
			return slices.Contains(list, k.Status)
		})
	}
	switch {
	case res.Diff != "":
		if in.Text != "" {
			same["text"] = patchedText
		}
		return []next{{"verify", same, "proves the kernel again, once diff is applied"}}
	case is(fix.NotRepaired, fix.NotChecked) && limit < s.opt.Timeout:
		args := with(again(in), "timeout", int(s.opt.Timeout/time.Second))
		return []next{{"fix", args, "has more time"}}
	case is(fix.NotRepaired, fix.PartlyRepaired) && len(in.Allow) == 0:
		args := with(again(in), "allow", []string{"atomic", "grid-sync", "split", "double-buffer"})
		return []next{{"fix", args, "also tries means that change results or the host code"}}
	case is(fix.NotRepaired, fix.PartlyRepaired):
		for i := range res.Fixes {
			for j := range res.Fixes[i].Wrong {
				return []next{{"explain", map[string]any{"topic": string(res.Fixes[i].Wrong[j].Code)},
					"explains what is wrong, with an example and its repair"}}
			}
		}
	case slices.ContainsFunc(res.Fixes, func(k fix.Kernel) bool {
		return k.Status == fix.NothingToFix && k.After.Kind != diag.Verified
	}):
		return []next{{"verify", same, "tries to prove that no input and no schedule shows a bug"}}
	}
	return []next{}
}
