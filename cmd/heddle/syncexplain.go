package main

import (
	"fmt"
	"strings"

	"heddle/internal/engine/placement"
)

// The words for what a barrier is for: heddle sync --explain as text and HTML, and the hover of the
// editor.

// barrierReasons are the lines below a barrier of a report: its use if that was asked for, else
// what the search needs it for.
func barrierReasons(b *placement.Barrier) []string {
	if b.Use == nil {
		return b.Why
	}
	return useLines(b.Use)
}

// useLines describes the use of a barrier. A line that belongs to the one before it is indented.
func useLines(u *placement.BarrierUse) []string {
	var out []string
	switch u.Need {
	case placement.BarrierNeeded:
		out = neededLines(u)
	case placement.BarrierMaybe:
		out = maybeLines(u)
	case placement.BarrierRedundant:
		out = redundantLines(u)
	default:
		out = []string{"undecided: " + u.Why}
		if u.Refused {
			out = []string{"not explained: " + u.Why}
		}
	}
	if line := reachedLine(u); line != "" {
		out = append(out, line)
	}
	return out
}

// neededLines lists what a run shows without the barrier.
func neededLines(u *placement.BarrierUse) []string {
	var out []string
	for i := range u.Pairs {
		p := &u.Pairs[i]
		if p.Strong {
			out = append(out, "orders "+p.Text()+": not a data race, but the value read depends on their order")
		} else {
			out = append(out, "separates "+p.First.Text+" from "+p.Second.Text)
		}
		out = append(out, "  for example, "+p.Example())
	}
	for _, text := range u.Changes {
		out = append(out, "without it: "+text)
	}
	return out
}

// maybeLines lists what the proof cannot exclude without the barrier.
func maybeLines(u *placement.BarrierUse) []string {
	out := []string{"no run" + of(u) + " shows a race without it, but the proof cannot exclude"}
	for i := range u.Pairs {
		p := &u.Pairs[i]
		out = append(out, "  a race between "+p.Text(), "    "+p.Proof)
	}
	for _, text := range u.Changes {
		out = append(out, "  "+text)
	}
	return out
}

// redundantLines states the proof without the barrier, and which others it leaves out.
func redundantLines(u *placement.BarrierUse) []string {
	what := "redundant: proved race-free without it"
	if u.Replaced {
		what = "replaced: proved race-free with the added barriers"
	}
	if len(u.Together) > 0 {
		what += " and without the " + barriersIn(u.Together)
	}
	out := []string{what + ": " + u.Scope}
	for _, others := range u.Apart {
		out = append(out, "not proved race-free without the "+barriersIn(others)+" as well")
	}
	return out
}

// barriersIn names barriers by their places.
func barriersIn(places []string) string {
	if len(places) == 1 {
		return "barrier " + places[0]
	}
	last := len(places) - 1
	return "barriers " + strings.Join(places[:last], ", ") + " and " + places[last]
}

// of names the blocks that a run is limited to.
func of(u *placement.BarrierUse) string {
	if u.Blocks == "" {
		return ""
	}
	return " of " + u.Blocks
}

// reachedLine says how often threads reach a barrier, and estimates what that costs; empty if no
// run counted it.
func reachedLine(u *placement.BarrierUse) string {
	r := &u.Reached
	if !r.Known {
		return ""
	}
	var limits []string
	if u.Blocks != "" {
		limits = append(limits, "measured in "+u.Blocks)
	}
	if u.Ended != "" {
		limits = append(limits, "the run ended early: "+u.Ended)
	}
	run := ""
	if len(limits) > 0 {
		run = " (" + strings.Join(limits, "; ") + ")"
	}
	if r.Total == 0 {
		return "no thread reaches it in a run of the launch" + run
	}
	how := fmt.Sprintf("threads reach it %s on average", times(r.PerThread))
	switch {
	case u.Ended != "":
		return fmt.Sprintf("threads reach it at least %s on average", times(r.PerThread)) + run
	case r.Even && r.PerThread == 1:
		how = "each thread reaches it once"
	case r.Even:
		how = fmt.Sprintf("each thread reaches it %.0f times", r.PerThread)
	}
	return how + run + "; " + costText(u)
}

// times says how often something happens.
func times(n float64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%.3g times", n)
}

// costText estimates the cycles of a barrier, with the formula.
func costText(u *placement.BarrierUse) string {
	cost := "costs"
	if u.Need == placement.BarrierRedundant {
		cost = "its removal saves"
	}
	return fmt.Sprintf("%s about %s per block (estimate: %.4g x %.3g on an %s)", cost,
		counted(int(u.Cycles), "cycle"), u.Reached.PerThread, u.Latency, placement.LatencyGPU)
}
