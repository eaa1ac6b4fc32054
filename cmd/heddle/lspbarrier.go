package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/engine/placement"
	"heddle/internal/lsp"
	"heddle/internal/source"
)

// hoverTime bounds the analysis behind a hover: nobody waits longer for a tooltip.
const hoverTime = 8 * time.Second

// barrierWords are the names by which CUDA, OpenCL and cooperative groups call block barriers. A
// hover on another word returns at once, without an analysis.
var barrierWords = []string{"__syncthreads", "__syncthreads_count", "__syncthreads_and",
	"__syncthreads_or", "barrier", "work_group_barrier", "sync", "bar"}

// Barrier implements lsp.Barriers: it explains the barrier at a position, or returns "" if there is
// none. Errors in the source are ignored here, since Check reports them.
func (e *editorEngine) Barrier(ctx context.Context, req lsp.Request, line, col int) (string,
	error) {
	word := wordAt(req.Text, line, col)
	if say := operationText(word); say != "" {
		return say, nil
	}
	if !slices.Contains(barrierWords, word) {
		return "", nil
	}
	report := &lsp.Report{Files: source.NewSet()}
	opt, inputs, err := e.prepare(req, report)
	if err != nil || inputs == nil {
		return "", err
	}
	// A search that runs out of time yields no text, and the editor shows no tooltip.
	ctx, cancel := context.WithTimeout(ctx, hoverTime)
	defer cancel()
	use, err := placement.UseOfBarrier(ctx, placement.Options{Common: opt}, inputs[0], placement.At{Line: line,
		Col: col}, func(diag.Diagnostic) {})
	if err != nil || use == nil {
		return "", err
	}
	return barrierText(use), nil
}

// barrierText describes in Markdown what a barrier separates, and whether that is known from a run
// or only not excluded by the prover. A long list is cut, because editors do not scroll tooltips
// well.
func barrierText(use *placement.BarrierUse) string {
	// A barrier of a large kernel can separate hundreds of pairs.
	const most = 5
	var list strings.Builder
	for i, s := range use.Separates {
		if i == most {
			fmt.Fprintf(&list, "\n- and %d more", len(use.Separates)-most)
			break
		}
		fmt.Fprintf(&list, "\n- %s", s)
	}
	switch use.Need {
	case placement.BarrierNeeded:
		return fmt.Sprintf("**needed**: a run without this barrier has these races:\n%s", list.String())
	case placement.BarrierMaybe:
		return fmt.Sprintf("**kept**: without this barrier, the prover cannot exclude these races; a "+
			"run of this launch does not show them:\n%s", list.String())
	case placement.BarrierRedundant:
		return "**redundant**: the kernel is proved race-free without this barrier, for all inputs of " +
			"this launch shape. `heddle sync` removes it."
	}
	return "heddle could not determine what this barrier is for: " + use.Why
}

// wordAt returns the C identifier at a line and a byte column, both counted from 1; "" if there is
// none, or if the document is shorter than the position.
func wordAt(text []byte, line, col int) string {
	rest := string(text)
	for range line - 1 {
		_, after, ok := strings.Cut(rest, "\n")
		if !ok {
			return ""
		}
		rest = after
	}
	row, _, _ := strings.Cut(rest, "\n")
	if col < 1 || col > len(row) {
		return ""
	}
	isWord := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	// The position may be anywhere in the word, also directly behind its last character.
	from, to := col-1, col-1
	for from > 0 && isWord(row[from-1]) {
		from--
	}
	for to < len(row) && isWord(row[to]) {
		to++
	}
	return row[from:to]
}
