package reduce

// An edit makes a candidate smaller. Its changes refer to the text of the candidate it was found
// in.
type edit struct {
	changes []change
	launch  *Launch // that replaces the candidate's; nil: it stays
}

// with makes edits at the same time; nil if they contradict each other. Of several launches, the
// last one counts: passes with launches are single.
func (c *Candidate) with(edits []edit) *Candidate {
	var changes []change
	l := c.Launch
	for _, e := range edits {
		changes = append(changes, e.changes...)
		if e.launch != nil {
			l = *e.launch
		}
	}
	return c.apply(changes, l)
}

// A pass is a kind of edit.
type pass struct {
	name   string
	find   func(*Candidate) []edit // in the order of the text
	single bool                    // each edit is tried alone: several at a time exclude each other
	tidy   bool                    // leaves what the kernels do; see Options.Tidy
}

// passes in their order: from functions to operands, and what a function declares once nothing uses
// it.
var passes = []pass{
	{name: "debug information", find: debugInformation, tidy: true},
	{name: "definitions", find: definitions, tidy: true},
	{name: "functions and their calls", find: calledFunctions},
	{name: "launch", find: launches, single: true},
	{name: "blocks", find: blocks},
	{name: "loops", find: loops},
	{name: "instructions", find: instructions},
	{name: "scopes", find: scopes},
	{name: "guards", find: guards},
	{name: "forwarding", find: forwarding, single: true},
	{name: "operands", find: operands},
	{name: "operands of 1", find: ones},
	{name: "numbers", find: numbers},
	{name: "labels", find: labels, tidy: true},
	{name: "declarations", find: declarations, tidy: true},
	{name: "sizes", find: sizes, single: true},
	{name: "parameters", find: parameters, single: true},
	{name: "headers", find: headers},
}
