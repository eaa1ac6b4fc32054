package oracle

import "fmt"

// Thread programs and their semantics as in Weft (PLDI 2015) §3: what a warp-specialized kernel is
// once all but synchronization and shared accesses is abstracted away.

// Op is a command of a thread program.
type Op uint8

const (
	ReadCmd Op = iota
	WriteCmd
	ArriveCmd
	SyncCmd
)

// Command is one command: an access of variable Var, or a registration at barrier Bar for Count
// threads.
type Command struct {
	Op    Op
	Var   int
	Bar   int
	Count int
}

// String prints c as the paper does.
func (c Command) String() string {
	switch c.Op {
	case ReadCmd:
		return fmt.Sprintf("read g%d", c.Var)
	case WriteCmd:
		return fmt.Sprintf("write g%d", c.Var)
	case ArriveCmd:
		return fmt.Sprintf("arrive %d %d", c.Bar, c.Count)
	}
	return fmt.Sprintf("sync %d %d", c.Bar, c.Count)
}

// Synchronizes reports whether c is an arrive or a sync.
func (c Command) Synchronizes() bool { return c.Op >= ArriveCmd }

// Programs is a block: one program for each thread.
type Programs [][]Command

// Ref names a command: its thread and its position.
type Ref struct{ Thread, At int }

// Outcome is how an execution ends (§3.3).
type Outcome uint8

const (
	Done Outcome = iota
	Deadlocked
	Erred // participants of one generation name different counts
)

// State is a configuration of §3.2, with the number of times each barrier was recycled.
type State struct {
	pc       []int
	blocked  []bool
	syncs    [][]int // threads that wait at each barrier
	arrives  [][]int
	count    []int // 0: not configured
	recycled []int
}

// NewState returns the initial configuration, for barriers 0 to barriers-1.
func NewState(p Programs, barriers int) *State {
	return &State{pc: make([]int, len(p)), blocked: make([]bool, len(p)),
		syncs:   make([][]int, barriers),
		arrives: make([][]int, barriers), count: make([]int, barriers), recycled: make([]int, barriers)}
}

// Ready lists the threads that can take a step.
func (s *State) Ready(p Programs) []int {
	var out []int
	for i := range p {
		if !s.blocked[i] && s.pc[i] < len(p[i]) {
			out = append(out, i)
		}
	}
	return out
}

// Done reports whether all threads have returned.
func (s *State) Done(p Programs) bool {
	for i := range p {
		if s.pc[i] < len(p[i]) {
			return false
		}
	}
	return true
}

// Step lets thread i execute its next command, and recycles the barrier if that completes it; then
// the threads that waited have executed their sync. It returns the generation in which the command
// took part (Definition 5, counted from 1), the barrier that was recycled or -1, and whether the
// step is an error.
func (s *State) Step(p Programs, i int) (gen, recycled int, err bool) {
	c := p[i][s.pc[i]]
	if !c.Synchronizes() {
		s.pc[i]++
		return 0, -1, false
	}
	b := c.Bar
	if s.count[b] == 0 {
		s.count[b] = c.Count
	} else if s.count[b] != c.Count {
		return 0, -1, true
	}
	gen = s.recycled[b] + 1
	if c.Op == ArriveCmd {
		s.arrives[b] = append(s.arrives[b], i)
		s.pc[i]++
	} else {
		s.syncs[b] = append(s.syncs[b], i)
		s.blocked[i] = true
	}
	if len(s.syncs[b])+len(s.arrives[b]) < s.count[b] {
		return gen, -1, false
	}
	for _, t := range s.syncs[b] {
		s.blocked[t] = false
		s.pc[t]++
	}
	s.syncs[b], s.arrives[b], s.count[b] = nil, nil, 0
	s.recycled[b]++
	return gen, b, false
}

// Clone returns a copy that shares nothing.
func (s *State) Clone() *State {
	c := &State{pc: append([]int(nil), s.pc...), blocked: append([]bool(nil), s.blocked...),
		count:    append([]int(nil), s.count...),
		recycled: append([]int(nil), s.recycled...)}
	for b := range s.syncs {
		c.syncs = append(c.syncs, append([]int(nil), s.syncs[b]...))
		c.arrives = append(c.arrives, append([]int(nil), s.arrives[b]...))
	}
	return c
}

func (s *State) key() string {
	return fmt.Sprint(s.pc, s.blocked, s.syncs, s.arrives, s.count, s.recycled)
}

// WellSynchronized decides Definition 6 by enumerating every execution: each registration takes
// part in the same generation in all of them, and none deadlocks or goes to an error. For tiny
// programs.
func WellSynchronized(p Programs, barriers int) bool {
	gens := make(map[Ref]int)
	seen := make(map[string]bool)
	var walk func(s *State) bool
	walk = func(s *State) bool {
		if k := s.key(); seen[k] {
			return true
		} else {
			seen[k] = true
		}
		ready := s.Ready(p)
		if len(ready) == 0 {
			return s.Done(p)
		}
		for _, i := range ready {
			t := s.Clone()
			at := Ref{i, t.pc[i]}
			gen, _, err := t.Step(p, i)
			if err {
				return false
			}
			if gen != 0 {
				if have := gens[at]; have != 0 && have != gen {
					return false
				}
				gens[at] = gen
			}
			if !walk(t) {
				return false
			}
		}
		return true
	}
	return walk(NewState(p, barriers))
}
