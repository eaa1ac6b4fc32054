package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/engine/placement"
	"heddle/internal/lazyregexp"
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
	say := operationText(word)
	if word != "__syncwarp" && (say != "" || !isBarrier(req.Text, word)) {
		return say, nil
	}
	report := &lsp.Report{Files: source.NewSet()}
	opt, inputs, err := e.prepare(req, report)
	if err != nil || inputs == nil {
		return say, err
	}
	// A search that runs out of time yields no text, and the editor shows no tooltip.
	ctx, cancel := context.WithTimeout(ctx, hoverTime)
	defer cancel()
	use, err := placement.UseOfBarrier(ctx, placement.Options{Common: opt}, inputs[0],
		placement.At{Line: line, Col: col}, func(diag.Diagnostic) {})
	if err != nil || use == nil {
		return say, err
	}
	if say != "" {
		say += "\n\n"
	}
	return say + barrierText(use), nil
}

// isBarrier reports whether a word may stand for a barrier: one of barrierWords, or a macro of the
// document whose definition has one.
func isBarrier(text []byte, word string) bool {
	if slices.Contains(barrierWords, word) {
		return true
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		name, ok2 := strings.CutPrefix(strings.TrimSpace(rest), "define")
		if !ok || !ok2 || word == "" {
			continue
		}
		fields := notWord.Split(name, -1)
		at := slices.Index(fields, word)
		if at == 1 && slices.ContainsFunc(fields[2:], func(s string) bool {
			return s == "__syncwarp" || slices.Contains(barrierWords, s)
		}) {
			return true
		}
	}
	return false
}

// notWord matches what is between the names of a line.
var notWord = lazyregexp.New(`\W+`)

// barrierHeads begin the text on a barrier, by its need. Each line of the list below states the
// rest.
var barrierHeads = map[placement.BarrierNeed]string{
	placement.BarrierNeeded:    "**needed**: without this barrier, a run shows a race or a hang.",
	placement.BarrierMaybe:     "**kept**: this barrier cannot be proved redundant.",
	placement.BarrierRedundant: "**redundant**: not needed while the other barriers are in place.",
	placement.BarrierUndecided: "heddle could not determine what this barrier is for.",
}

// barrierText describes the use of a barrier in Markdown, with the lines of heddle sync --explain.
// A long list is cut, because editors do not scroll tooltips well.
func barrierText(use *placement.BarrierUse) string {
	// A barrier of a large kernel can separate hundreds of pairs.
	const most = 5
	short := *use
	if n := len(short.Pairs) - most; n > 0 {
		short.Pairs = short.Pairs[:most]
		short.Changes = append([]string{fmt.Sprintf("%d more pairs of accesses", n)}, short.Changes...)
	}
	var list strings.Builder
	for _, line := range useLines(&short) {
		text := strings.TrimLeft(line, " ")
		fmt.Fprintf(&list, "\n%s- %s", line[:len(line)-len(text)], diag.Prose(text, nil))
	}
	return barrierHeads[use.Need] + "\n" + list.String()
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
