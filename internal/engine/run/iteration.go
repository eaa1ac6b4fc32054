package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lazyregexp"
	"heddle/internal/race"
)

// The iterations in which two accesses race, in the words of the source: "with k = 64". The
// detector does not know them. A run with a race is repeated with a sink that reads the counters of
// the loops around the two accesses at the moment of each. A counter is the variable that the
// header of a for statement changes; it is known only if one instruction has the position of that
// change.

// mostRepeated is the number of warp instructions of a run that is repeated for its iterations.
const mostRepeated = 4_000_000

// counter is the variable of a for statement.
type counter struct {
	name string
	reg  ir.RegID
	size int // bytes
}

// loops are those of a kernel with their counters.
type loops struct {
	forest   *ir.LoopForest
	counters map[*ir.Loop]counter
}

// loopsOf finds the loops of the kernel and their counters.
func (r *Run) loopsOf() *loops {
	f := r.Job.Kernel
	out := &loops{ir.FindLoops(f, ir.Dominators(f)), make(map[*ir.Loop]counter)}
	for _, l := range out.forest.Loops {
		if c, ok := r.counterOf(out.forest, l); ok {
			out.counters[l] = c
		}
	}
	return out
}

// around are the counters of the loops around an instruction of the kernel, the outermost first.
func (s *loops) around(f *ir.Func, in *ir.Instr) []counter {
	b := blockWith(f, in)
	if b == nil {
		return nil
	}
	var out []counter
	for l := s.forest.Of[b.ID]; l != nil; l = l.Parent {
		if c, ok := s.counters[l]; ok {
			out = append(out, c)
		}
	}
	slices.Reverse(out)
	return out
}

// counterOf returns the counter of a loop: a register that the instructions of the step read, and
// that has their result in the next iteration.
func (r *Run) counterOf(forest *ir.LoopForest, l *ir.Loop) (counter, bool) {
	f := r.Job.Kernel
	var name string
	var read, written []ir.RegID
	for _, id := range l.Blocks {
		if forest.Of[id] != l {
			continue // of a loop inside
		}
		for _, in := range f.Block(id).Instrs {
			at := driver.Place(in)
			line, ok := r.Job.LineAt(at.Start)
			if !ok || r.homeLine(at) == 0 || len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register {
				continue
			}
			step, from, to := forStep(line)
			if col := at.Start.Col() - 1; step == "" || col < from || col >= to {
				continue
			}
			if name != "" && step != name {
				return counter{}, false
			}
			for _, s := range in.Src { // an intermediate result is written first
				if s.Kind == ir.Register && !slices.Contains(written, s.Reg) {
					read = append(read, s.Reg)
				}
			}
			name, written = step, append(written, in.Dst[0].Reg)
		}
	}
	for _, from := range written {
		for _, to := range read {
			if carried(f, l, from, to) {
				return counter{name, to, f.Regs[to].Type.Size()}, true
			}
		}
	}
	return counter{}, false
}

// carried reports whether a register has, in the next iteration of a loop, the value that another
// one has at the end of this one.
func carried(f *ir.Func, l *ir.Loop, from, to ir.RegID) bool {
	if from == to {
		return true
	}
	for _, id := range l.Blocks {
		for _, in := range f.Block(id).Instrs {
			if len(in.Dst) == 1 && in.Dst[0].Reg == to && len(in.Src) == 1 &&
				in.Src[0].Kind == ir.Register && in.Src[0].Reg == from {
				return true
			}
		}
	}
	return false
}

// stepRE matches the third part of the header of a for statement: "i++", "++i", "k >>= 1".
var stepRE = lazyregexp.New(`^(?:(?:\+\+|--)(\w+)|(\w+)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=[^=].*))$`)

// forStep returns the variable that the header of a for statement in a line changes, and the
// half-open range of bytes of that part; name is empty if there is none.
func forStep(line string) (name string, from, to int) {
	at := strings.Index(line, "for")
	if at < 0 || at > 0 && (line[at-1] == '_' || line[at-1] >= 'a') {
		return "", 0, 0
	}
	depth, parts := 0, 0
	for i := at + 3; i < len(line); i++ {
		switch c := line[i]; {
		case c == '(':
			depth++
		case c == ';' && depth == 1:
			parts++
			from = i + 1
		case c == ')':
			if depth--; depth > 0 {
				continue
			}
			m := stepRE.FindStringSubmatch(strings.TrimSpace(line[min(from, i):i]))
			if parts != 2 || m == nil {
				return "", 0, 0
			}
			return m[1] + m[2], from, i
		case depth == 0 && c != ' ':
			return "", 0, 0
		}
	}
	return "", 0, 0
}

// moment is what the loop counters are at the two accesses of a race.
type moment struct {
	race     *race.Race
	counters [2][]counter
	at       [2]string // "k = 64"
	value    [2]string // "3"
	first    string    // at the last access that may be the first of the race
	wrote    string    // its value
	earlier  int       // how often its thread had executed it by then
	seen     [2]int    // how often the two threads have executed their accesses so far
	turn     [2]int    // which of them the two accesses are
	instrs   [2]*ir.Instr
	done     bool
}

// moments is a detector that also reads the loop counters of some races.
type moments struct {
	*race.Detector
	kernel *ir.Func
	peek   emu.Peek
	list   []moment
}

// Access implements event.Sink.
func (m *moments) Access(e *event.Access) {
	for i := range m.list {
		w := &m.list[i]
		if w.done {
			continue
		}
		for k, a := range []*race.Access{&w.race.First, &w.race.Second} {
			if e.Site == a.Site && e.Warp == a.Thread.Warp() && e.Mask>>a.Thread.Lane()&1 != 0 {
				w.seen[k]++
			}
		}
		if a := &w.race.First; by(e, a) {
			w.earlier = w.seen[0]
			w.first = m.read(w.counters[0], a.Thread.Lane())
			w.wrote = m.value(e, w.instrs[0], a.Thread.Lane())
		}
	}
	before := m.Examples()
	m.Detector.Access(e)
	if m.Examples() == before {
		return
	}
	found := m.Report().Races
	for i := range m.list {
		w := &m.list[i]
		a := &w.race.Second
		if w.done || !by(e, a) || !slices.ContainsFunc(found, func(r race.Race) bool {
			return same(&r, w.race) || r.Far != nil && same(r.Far, w.race)
		}) {
			continue
		}
		w.done, w.turn = true, [2]int{w.earlier, w.seen[1]}
		w.at = [2]string{w.first, m.read(w.counters[1], a.Thread.Lane())}
		w.value = [2]string{w.wrote, m.value(e, w.instrs[1], a.Thread.Lane())}
	}
}

// by reports whether an event has an access of a race.
func by(e *event.Access, a *race.Access) bool {
	l := a.Thread.Lane()
	return e.Site == a.Site && e.Warp == a.Thread.Warp() && e.Mask>>l&1 != 0 &&
		e.Addr[l] < a.Addr+uint64(a.Size) && a.Addr < e.Addr[l]+uint64(e.Size)
}

// same reports whether two races are the same example.
func same(a, b *race.Race) bool {
	return a.Space == b.Space && a.Block == b.Block && a.First == b.First && a.Second == b.Second
}

// read returns the values of counters in a lane: "i = 3, k = 64".
func (m *moments) read(list []counter, lane int) string {
	var out []string
	for _, c := range list {
		v, ok := m.peek.Register(m.kernel, c.reg, lane)
		if !ok {
			return ""
		}
		shift := 64 - 8*c.size
		out = append(out, fmt.Sprintf("%s = %d", c.name, int64(v<<shift)>>shift))
	}
	return strings.Join(out, ", ")
}

// recorded returns the moments of the races of the last run, which it repeats when they are first
// asked for: a run whose races were all reported before is not repeated.
func (r *Run) recorded() []moment {
	if repeat := r.repeat; repeat != nil {
		r.repeat = nil
		repeat()
	}
	return r.moments
}

// iterations repeats a run that found races, and keeps the loop counters and values at the accesses
// of each.
func (r *Run) iterations(ctx context.Context, rep *race.Report, res *emu.Result, seed uint64) {
	if res.Steps > mostRepeated {
		return
	}
	m, in := &moments{kernel: r.Job.Kernel}, r.loops()
	for i := range rep.Races {
		rc := shown(&rep.Races[i])
		w := moment{race: rc}
		for k, a := range []*race.Access{&rc.First, &rc.Second} {
			if info := r.Machine.Site(a.Site); len(info.Calls) == 0 {
				w.counters[k], w.instrs[k] = in.around(m.kernel, info.Instr), info.Instr
			}
		}
		if w.instrs[0] != nil || w.instrs[1] != nil {
			m.list = append(m.list, w)
		}
	}
	if len(m.list) == 0 {
		return
	}
	var ok bool
	if m.Detector, ok = Watch(r.Job.Options(), r.Job.Kernel, r.Config, r.Machine, true).(*race.Detector); !ok {
		return
	}
	opt := r.options(seed)
	opt.Progress, opt.Peek = nil, &m.peek
	if _, err := r.Machine.Run(ctx, opt, m); err == nil {
		r.moments = m.list
	}
}

// counts returns the loop counters at the two accesses of a race: "k = 64"; empty if they are not
// known.
func (r *Run) counts(rc *race.Race) (first, second string) {
	if w := r.momentOf(rc); w != nil {
		return w.at[0], w.at[1]
	}
	return "", ""
}

// iteration tells whether the accesses of a race are in one iteration of the loops around both.
func (r *Run) iteration(rc *race.Race) (one, known bool) {
	w := r.momentOf(rc)
	if w == nil || !slices.Equal(w.counters[0], w.counters[1]) {
		return false, false
	}
	return w.at[0] == w.at[1], w.at[0] != "" && w.at[1] != ""
}

// reversed reports whether the first access of a race, which came first in the run, is the later
// one in the program: of a later iteration of a loop around both, or of the same one and behind the
// other in the code. A report tells the two in the order that a barrier between them would enforce.
func (r *Run) reversed(rc *race.Race, one, two emu.SiteInfo) bool {
	if rc.Cause != race.Unordered || rc.Level != race.IntraBlock && rc.Level != race.IntraWarp ||
		len(one.Calls)+len(two.Calls) > 0 {
		return false
	}
	if in, _ := r.commonLoop(one.Instr, two.Instr); in != nil {
		if w := r.momentOf(rc); w != nil && w.turn[0] != w.turn[1] && w.at[0] != w.at[1] {
			return w.turn[0] > w.turn[1]
		}
	}
	return one.Instr.Index > two.Instr.Index
}

// momentOf returns what was recorded at a race; nil if nothing was.
func (r *Run) momentOf(rc *race.Race) *moment {
	list := r.recorded()
	for i := range list {
		if w := &list[i]; w.done && same(w.race, rc) {
			return w
		}
	}
	return nil
}

// with completes a phrase by loop counters.
func with(counters string) string {
	if counters == "" {
		return ""
	}
	return ", with " + counters
}

// shown is the hazard of a race that a report has as its example. One between warps or blocks says
// more: threads of a warp could do with less than a barrier.
func shown(rc *race.Race) *race.Race {
	if rc.Far != nil {
		return rc.Far
	}
	return rc
}
