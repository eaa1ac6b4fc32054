package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/weaken"
)

// optimizeFlags defines --optimize, which excludes what has no meaning for it.
func (c *syncCommand) optimizeFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.optimize, "optimize", false,
		"offer weaker synchronization that is proved to suffice, instead of a placement")
	for _, other := range []string{"verify-only", "strip", "oracle", "cost", "algorithm", "html"} {
		cmd.MarkFlagsMutuallyExclusive("optimize", other)
	}
}

// runOptimize is heddle sync --optimize. Its exit code says nothing about kernels in which nothing
// may change, since they may be right as they are.
func (c *syncCommand) runOptimize(ctx context.Context, input driver.Input) error {
	if limit := c.opt.Prove.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	mistakes := c.mistakes(nil)
	opt := weaken.Options{Common: c.opt.Options, Run: c.opt.Run, Prove: c.opt.Prove}
	opt.Prove.Timeout = 0
	res, err := weaken.File(ctx, opt, input, func(d diag.Diagnostic) { mistakes.Finding(&d) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintln(c.stderr, "out of time: nothing is offered")
		return exitWith(exitUnknown)
	case err != nil:
		return inputError{err}
	}
	if err := c.reportOffers(res, input.Name); err != nil {
		return inputError{fmt.Errorf("writing the results: %w", err)}
	}
	code := exitClean
	for i := range res.Verdicts {
		if res.Verdicts[i].Kind != diag.Verified {
			code = exitUnknown
		}
	}
	if res.InputErrors > 0 {
		code = exitUsage
	}
	return exitWith(code)
}

// reportOffers writes the offers, the diff and the changed text.
func (c *syncCommand) reportOffers(res *weaken.Result, name string) error {
	if c.format == "json" {
		if err := writeOptimizeJSON(c.stdout, res); err != nil {
			return err
		}
		return c.save(res.Patched, res.Files, name)
	}
	w := &bytes.Buffer{}
	left := 0
	for i := range res.Offers {
		o := &res.Offers[i]
		switch {
		case o.Offered():
			c.offerText(w, res, o)
		case c.in.verbose:
			fmt.Fprintf(w, "not offered: %s: %s: %s\n", res.Files.Format(o.At), o.Before, o.Reason)
		default:
			left++
		}
	}
	if left > 0 {
		fmt.Fprintf(w, "%s may not be weaker, or not provably (-v: why)\n", places(left))
	}
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		fmt.Fprintf(w, "with all offers: %s: %s: %s\n", v.Kind, v.Kernel, cmp.Or(v.Scope, v.Reason))
	}
	if _, err := w.WriteTo(c.stderr); err != nil {
		return err
	}
	if _, err := io.WriteString(c.stdout, res.Diff); err != nil {
		return err
	}
	return c.save(res.Patched, res.Files, name)
}

// places counts places in words.
func places(n int) string {
	if n == 1 {
		return "1 place with synchronization"
	}
	return fmt.Sprintf("%d places with synchronization", n)
}

// offerText prints one offer.
func (c *syncCommand) offerText(w io.Writer, res *weaken.Result, o *weaken.Offer) {
	fmt.Fprintf(w, "offer: %s: %s -> %s\n", res.Files.Format(o.At), o.Before,
		cmp.Or(o.After, "nothing"))
	fmt.Fprintf(w, "  in %s\n", strings.Join(o.Kernels, ", "))
	for _, why := range o.Why {
		fmt.Fprintf(w, "  %s\n", why)
	}
	if o.Assuming != "" {
		fmt.Fprintf(w, "  assuming that %s\n", o.Assuming)
	}
	fmt.Fprintf(w, "  a thread executes it %.3g times (saving %.3g)\n", o.Runs, o.Saving)
	fmt.Fprintf(w, "  %s: %s\n", o.Verdict.Kind, o.Verdict.Scope)
}

// optimizeObject is the result of heddle sync --optimize for one file.
type optimizeObject struct {
	jsonHead
	Offers   []optimizeOffer   `json:"offers"`
	Verdicts []optimizeVerdict `json:"verdicts"`
	Diff     string            `json:"diff"`
}

// optimizeOffer is a place with synchronization: an offer, or the reason why it is none.
type optimizeOffer struct {
	Kind       string   `json:"kind"`
	Offered    bool     `json:"offered"`
	File       string   `json:"file"`
	Line       int      `json:"line"`
	Column     int      `json:"column"`
	Kernels    []string `json:"kernels"`
	Before     string   `json:"before"`
	After      string   `json:"after"`
	Why        []string `json:"why,omitempty"`
	Assuming   string   `json:"assuming,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Executions float64  `json:"executions_per_thread"`
	Saving     float64  `json:"saving"`
	Verdict    string   `json:"verdict,omitempty"`
	Scope      string   `json:"scope,omitempty"`
}

// optimizeVerdict is the verdict of a kernel with all offers.
type optimizeVerdict struct {
	Kernel  string `json:"kernel"`
	Verdict string `json:"verdict"`
	Scope   string `json:"scope,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// writeOptimizeJSON writes the result for a file as one object.
func writeOptimizeJSON(w io.Writer, res *weaken.Result) error {
	out := optimizeObject{jsonHead: jsonHead{diag.SchemaVersion, "optimize"},
		Offers: []optimizeOffer{}, Verdicts: []optimizeVerdict{}, Diff: res.Diff}
	for i := range res.Offers {
		o := &res.Offers[i]
		one := optimizeOffer{
			Kind: o.Kind.String(), Offered: o.Offered(), Line: o.At.Line(), Column: o.At.Col(),
			Kernels: o.Kernels, Before: o.Before, After: o.After, Why: o.Why, Assuming: o.Assuming,
			Reason: o.Reason, Executions: o.Runs, Saving: o.Saving,
		}
		if f := res.Files.File(o.At.File()); f != nil {
			one.File = f.Name
		}
		if o.Offered() {
			one.Verdict, one.Scope = o.Verdict.Kind.String(), o.Verdict.Scope
		}
		out.Offers = append(out.Offers, one)
	}
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		out.Verdicts = append(out.Verdicts,
			optimizeVerdict{v.Kernel, v.Kind.String(), v.Scope, v.Reason})
	}
	return json.NewEncoder(w).Encode(out)
}
