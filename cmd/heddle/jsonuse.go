package main

import "heddle/internal/engine/placement"

// syncUse is what a barrier is for. Executions and what follows are of a run of the launch.
type syncUse struct {
	Need       string     `json:"need"`
	Pairs      []syncPair `json:"pairs,omitempty"`
	Changes    []string   `json:"changes,omitempty"`
	Why        string     `json:"why,omitempty"`
	Scope      string     `json:"scope,omitempty"`
	Replaced   bool       `json:"replaced,omitempty"`
	Together   []string   `json:"together,omitempty"`
	Apart      [][]string `json:"apart,omitempty"`
	Blocks     string     `json:"blocks,omitempty"`
	Ended      string     `json:"ended,omitempty"`
	Executions uint64     `json:"executions,omitempty"`
	PerThread  float64    `json:"per_thread,omitempty"`
	Cycles     uint64     `json:"cycles,omitempty"`
	Each       float64    `json:"cycles_each,omitempty"`
}

// syncPair is a pair of accesses that a barrier separates, with an example of a run or the
// counterexample of a proof.
type syncPair struct {
	First   syncAccess `json:"first"`
	Second  syncAccess `json:"second"`
	Element string     `json:"element,omitempty"`
	Memory  string     `json:"memory,omitempty"`
	Block   string     `json:"block,omitempty"`
	OneWarp bool       `json:"one_warp,omitempty"`
	Strong  bool       `json:"strong,omitempty"`
	Proof   string     `json:"proof,omitempty"`
}

// syncAccess is one access of a pair.
type syncAccess struct {
	Access    string `json:"access"`
	Thread    string `json:"thread,omitempty"`
	Iteration string `json:"iteration,omitempty"`
	Call      string `json:"call,omitempty"`
}

// syncUseOf returns the object of a use; nil if there is none.
func syncUseOf(u *placement.BarrierUse) *syncUse {
	if u == nil {
		return nil
	}
	out := &syncUse{
		Need: u.Need.String(), Changes: u.Changes, Why: u.Why, Scope: u.Scope, Replaced: u.Replaced,
		Together: u.Together, Apart: u.Apart, Blocks: u.Blocks, Ended: u.Ended,
		Executions: u.Reached.Total, PerThread: u.Reached.PerThread, Cycles: u.Cycles,
		Each: u.Latency,
	}
	access := func(a *placement.PairAccess) syncAccess {
		return syncAccess{a.Text, a.Thread, a.Iteration, a.Call}
	}
	for i := range u.Pairs {
		p := &u.Pairs[i]
		out.Pairs = append(out.Pairs, syncPair{access(&p.First), access(&p.Second), p.Element,
			p.Memory, p.Block, p.OneWarp, p.Strong, p.Proof})
	}
	return out
}
