package main

import (
	"encoding/json"
	"io"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/explore"
	"heddle/internal/litmus"
)

// exploreObject is the result of heddle explore for one litmus test.
type exploreObject struct {
	jsonHead
	File       string         `json:"file"`
	Name       string         `json:"name,omitempty"`
	Kernel     string         `json:"kernel,omitempty"`
	Grid       string         `json:"grid,omitempty"`
	Block      string         `json:"block,omitempty"`
	Condition  string         `json:"condition,omitempty"`
	Verdict    string         `json:"verdict"`
	Reason     string         `json:"reason,omitempty"`
	Launch     *exploreLaunch `json:"launch,omitempty"`
	States     []exploreState `json:"states,omitempty"`
	Executions int            `json:"executions"`
	Complete   int            `json:"complete"`
	Permutes   int            `json:"permutations,omitempty"`
	Truncated  int            `json:"truncated,omitempty"`
	Stopped    bool           `json:"stopped,omitempty"`
	Races      []exploreRace  `json:"races,omitempty"`
	Faults     []exploreFault `json:"errors,omitempty"`
	Hangs      bool           `json:"hangs"`
	Expects    bool           `json:"expects"`
	Differs    []string       `json:"differences,omitempty"`
}

// exploreLaunch is how heddle chose the launch of a kernel.
type exploreLaunch struct {
	Tried    int    `json:"tried"`
	Unusable int    `json:"unusable"`
	Sync     int    `json:"synchronizing"`
	Named    string `json:"named,omitempty"`
}

// exploreState is a final state.
type exploreState struct {
	Values     []exploreValue `json:"values"`
	Holds      bool           `json:"holds"`
	Executions int            `json:"executions"`
}

// exploreValue is the value of a register or a location in a final state.
type exploreValue struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// exploreRace is a pair of instructions with a data race.
type exploreRace struct {
	First      explorePlace `json:"first"`
	Second     explorePlace `json:"second"`
	Why        string       `json:"why"`
	Missing    string       `json:"missing,omitempty"`
	Executions int          `json:"executions"`
}

// exploreFault is an error that ends a kernel.
type exploreFault struct {
	At   explorePlace `json:"at"`
	What string       `json:"what"`
}

// explorePlace is an instruction of a thread.
type explorePlace struct {
	Thread      string `json:"thread"`
	Line        int    `json:"line"`
	Column      int    `json:"column"`
	Instruction string `json:"instruction"`
}

// writeExploreJSON writes the result of one test, or why it has none, as one line.
func writeExploreJSON(w io.Writer, file string, t *litmus.Test, res *explore.Result,
	why error) error {
	out := exploreObject{jsonHead: jsonHead{diag.SchemaVersion, "explore"}, File: file,
		Verdict: "unsupported"}
	if t != nil {
		out.Name, out.Condition, out.Expects = t.Name, t.Condition.String(), t.Expect.Stated()
	}
	if why != nil {
		out.Reason = why.Error()
	}
	if res != nil {
		fillExplore(&out, res)
	}
	return json.NewEncoder(w).Encode(out)
}

// fillExplore fills in what was found.
func fillExplore(out *exploreObject, res *explore.Result) {
	out.Verdict = strings.ToLower(res.Verdict.String())
	s := &res.Stats
	out.Executions, out.Complete, out.Truncated = s.Executions, s.Complete, s.Truncated
	out.Stopped, out.Hangs, out.Differs = s.Stopped, res.Hang != nil, res.Differences()
	for _, f := range res.States {
		st := exploreState{Holds: f.Holds, Executions: f.Executions}
		for i, t := range f.Terms {
			st.Values = append(st.Values, exploreValue{t.Name, f.Values[i]})
		}
		out.States = append(out.States, st)
	}
	out.Races = racesJSON(res.Races, func(in *explore.Inst) (line, col int) {
		at := in.Site.(litmus.Pos)
		return at.Line, at.Col
	})
}

// racesJSON returns races; at is the place of an instruction.
func racesJSON(races []*explore.Race, at func(*explore.Inst) (line, col int)) []exploreRace {
	var out []exploreRace
	for _, r := range races {
		place := func(p explore.Place) explorePlace {
			th, in := r.Instruction(p)
			line, col := at(in)
			return explorePlace{th.Name, line, col, in.Text}
		}
		out = append(out, exploreRace{place(r.First), place(r.Second), r.Why(), r.Missing(),
			r.Executions})
	}
	return out
}
