package placement

import (
	"fmt"
	"strings"

	"heddle/internal/event"
	"heddle/internal/source"
)

// BarrierNeed says whether a barrier of a block is needed, as far as is known.
type BarrierNeed uint8

const (
	BarrierUndecided BarrierNeed = iota // Why says what is missing
	BarrierNeeded                       // a run without it shows Pairs or Changes
	// no run without it shows Pairs or Changes, but the proof cannot exclude them
	BarrierMaybe
	BarrierRedundant // proved: without it no two threads of a block race either, for Scope
)

var needNames = [...]string{"undecided", "needed", "kept", "redundant"}

// String names the need in reports.
func (n BarrierNeed) String() string { return needNames[n] }

// BarrierUse is the purpose of one barrier: what happens without it, all others being in place.
type BarrierUse struct {
	Kernel string
	Need   BarrierNeed
	Pairs  []Pair // the accesses that it separates
	// Changes are other differences that its removal makes: barriers that threads no longer reach
	// together.
	Changes []string
	Why     string // of BarrierUndecided
	Refused bool   // not examined, because of Why
	Scope   string // what the proof of BarrierRedundant covers
	// Together are the places of barriers without which, and without this one, there is a proof as
	// well. Apart are sets of barriers that are redundant too, but not together with this one.
	Together []string
	Apart    [][]string
	Replaced bool   // redundant only with the barriers that the result adds
	Blocks   string // the blocks that were run, "blocks 0 to 7 of 128"; empty: all
	Ended    string // why the run with all barriers ended early; empty: it did not
	Warp     bool   // it is a barrier of a warp
	Reached  Reached
	// Latency is an estimate of the cycles of one execution on a LatencyGPU, and Cycles of what a
	// block spends at it; 0 if no thread reaches it, or if the run ended early.
	Latency float64
	Cycles  uint64
}

// Reached says how often the threads of a run reach a barrier.
type Reached struct {
	Known     bool
	Threads   uint64  // that ran
	Total     uint64  // executions by all of them
	PerThread float64 // on average
	Even      bool    // each thread reaches it that often
	PerBlock  int     // threads of a block
}

// Pair is a pair of accesses that a barrier separates.
type Pair struct {
	First, Second PairAccess // in the order of the source
	// Of the example, if a run shows one.
	Element string // "s[16]"; empty: its type is unknown
	Memory  string // "shared s[16]", or the bytes of an object
	Block   string // "block 2", if the launch has several
	OneWarp bool   // both threads are in one warp, in all examples of the run
	Strong  bool   // no data race: both are atomic, volatile or relaxed
	// Proof is the counterexample of the proof, or why the pair is undecided, if no run shows one.
	Proof string
}

// PairAccess is one access of a pair.
type PairAccess struct {
	Text      string // "the write of `s[t]` in line 12"
	Kind      event.Kind
	Thread    string // of the example: "thread 64"
	Iteration string // "s = 32"; empty: there is no loop, or its counter is not known
	Call      string // "9:18", where its function is called; empty: as for the other access
	at        source.Pos
}

// Text names both accesses.
func (p *Pair) Text() string { return p.First.Text + " and " + p.Second.Text }

// Example describes the example of a run; empty if there is none.
func (p *Pair) Example() string {
	if p.First.Thread == "" {
		return ""
	}
	what := p.Memory
	if name, part, some := strings.Cut(p.Element, ", bytes "); some { // of a vector, or a struct
		what = fmt.Sprintf("`%s` (bytes %s)", name, part)
	} else if name != "" {
		what = "`" + name + "`"
	}
	text := fmt.Sprintf("%s %s %s%s, %s %s it%s", p.First.Thread, verb(p.First.Kind), what,
		p.First.in(), p.Second.Thread, verb(p.Second.Kind), p.Second.in())
	if p.Block != "" {
		text = "in " + p.Block + ", " + text
	}
	if p.OneWarp {
		text += " (one warp)"
	}
	return text
}

// in completes a phrase by the iteration and the call of the access.
func (a *PairAccess) in() string {
	text := ""
	if a.Iteration != "" {
		text = " in iteration " + a.Iteration
	}
	if a.Call != "" {
		text += " in the call at " + a.Call
	}
	return text
}

// verb says what an access does.
func verb(k event.Kind) string {
	switch {
	case k.RMW():
		return "updates"
	case k.Writes():
		return "writes"
	}
	return "reads"
}
