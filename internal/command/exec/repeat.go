package exec

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/host"
	"heddle/internal/order"
)

// Repeats. Programs that measure a kernel launch it many times with the same inputs. Such a launch
// is not executed again: what it would write, and what the detector would see, follows from the
// bytes that it reads, and these hold what they held before an earlier launch of the same kernel
// with the same shape and arguments. By induction over its instructions it reads the same bytes and
// does the same with them.
//
// The bytes are compared by a hash of 64 bits with a random seed, and what a launch has written is
// kept, since something else may have been written there since. Both cost little beside the
// execution of the instructions that access them. Collecting what a launch accesses costs more, so
// that it begins with the second launch of a kind and ends after a few that repeat nothing.
//
// Launches that access managed or pinned memory, which the host may change meanwhile, are always
// executed, and so are those of kernels that are not repeatable (emu.Machine).

// repeats is what a process has shown about its launches.
type repeats struct {
	seed  maphash.Seed
	known map[string]*result
	bytes int // that the results take
}

// result is what is known about the launches of a kernel with some shape and arguments.
type result struct {
	never    bool // they are not worth examining: nothing else is set
	atomics  bool // emu.Machine.Repeatable
	textures bool // of that, too
	misses   int  // executions since the last repeat

	collected bool // an execution has set what follows
	accesses  order.Accesses
	fenced    bool
	in, out   []order.Range // bytes that it read, and wrote
	before    uint64        // the hash of what it reads, before it
	valid     bool          // before is known
	after     []byte        // what out held after it
	checked   bool          // the detector watched it to its end
}

const (
	maxMisses     = 4
	maxResults    = 1 << 12
	maxPieces     = 1 << 14   // of the bytes that a launch accesses
	maxKnownBytes = 256 << 20 // of all results of a process
)

// kindOf returns what identifies the launches that may repeat each other.
func kindOf(l *host.Launch) string {
	b := make([]byte, 0, 64+len(l.Params))
	for _, d := range []event.Dim3{l.Grid, l.Block, l.Cluster} {
		for _, n := range []uint32{d.X, d.Y, d.Z} {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
	}
	b = binary.LittleEndian.AppendUint32(b, l.Kernel)
	b = binary.LittleEndian.AppendUint64(b, l.Shared)
	if l.Cooperative {
		b = append(b, 1)
	}
	return string(append(b, l.Params...))
}

// attempt is a launch that may repeat another one.
type attempt struct {
	*result        // nil: it is the first of its kind, or not worth examining
	kind    string // kindOf
	hashed  bool   // now is known
	now     uint64 // the hash of what in and constant memory hold
}

// repeats reports whether the result of the launch is known.
func (a *attempt) repeats() bool {
	return a.result != nil && a.valid && a.hashed && a.now == a.before
}

// attempt compares what a launch would read with what was there before another one of its kind.
func (s *session) attempt(l *host.Launch) attempt {
	if s.r.opt.ExecuteRepeats {
		return attempt{}
	}
	a := attempt{kind: kindOf(l)}
	if r := s.repeats.known[a.kind]; r != nil && !r.never {
		a.result = r
		if r.collected && s.exists(r.in) && s.exists(r.out) {
			a.now, a.hashed = s.hash(r), true
		}
	}
	return a
}

// first notes the first launch of a kind, whose machine is m.
func (s *session) first(a attempt, m *emu.Machine) {
	t := &s.repeats
	if s.r.opt.ExecuteRepeats || t.known[a.kind] != nil {
		return
	}
	if t.known == nil || len(t.known) == maxResults {
		t.seed, t.known, t.bytes = maphash.MakeSeed(), make(map[string]*result), 0
	}
	ok, atomics, textures := m.Repeatable()
	t.known[a.kind] = &result{never: !ok, atomics: atomics, textures: textures}
}

// replay puts what the launch has written into memory.
func (s *session) replay(r *result) {
	r.misses = 0
	rest := r.after
	for _, o := range r.out {
		to := s.contents(o)
		copy(to, rest)
		rest = rest[len(to):]
	}
}

// learn keeps what an execution has accessed. complete says that it reached its end and that all
// accesses are known, checked that the detector watched it.
func (s *session) learn(a attempt, accesses order.Accesses, fenced, complete, checked bool) {
	r, t := a.result, &s.repeats
	t.bytes -= r.size()
	old := r.in
	*r = result{misses: r.misses + 1, atomics: r.atomics, textures: r.textures, accesses: accesses,
		fenced: fenced, collected: true, checked: checked}
	r.out = order.Union(accesses[order.Write], accesses[order.StrongWrite])
	r.in = order.Union(accesses[order.Read], accesses[order.StrongRead])
	if r.atomics { // what they write they have read
		r.in = order.Union(r.in, r.out)
	}
	written := uint64(0)
	for _, o := range r.out {
		written += o.To - o.From
	}
	if !complete || r.misses > maxMisses || len(r.in)+len(r.out) > maxPieces ||
		written > maxKnownBytes/2 || order.Overlap(r.in, s.visible) ||
		order.Overlap(r.out, s.visible) || order.Overlap(r.out, s.constants) {
		*r = result{never: true}
		return
	}
	switch {
	case a.hashed && slices.Equal(r.in, old):
		r.before, r.valid = a.now, true
	case !order.Overlap(r.in, r.out): // the launch has not changed what it read
		r.before, r.valid = s.hash(r), true
	}
	r.after = make([]byte, 0, written)
	for _, o := range r.out {
		r.after = append(r.after, s.contents(o)...)
	}
	if t.bytes += r.size(); t.bytes > maxKnownBytes {
		t.known, t.bytes = nil, 0
	}
}

// size returns the bytes that a result takes.
func (r *result) size() int {
	n := len(r.in) + len(r.out)
	for _, list := range r.accesses {
		n += len(list)
	}
	return 16*n + len(r.after)
}

// contents returns the bytes of a range.
func (s *session) contents(r order.Range) []byte {
	return s.shared.Bytes[r.From-host.ArenaBase : r.To-host.ArenaBase]
}

// hash returns a hash of what a launch reads: what some ranges and constant memory hold, and the
// descriptions of textures.
func (s *session) hash(r *result) uint64 {
	var h maphash.Hash
	h.SetSeed(s.repeats.seed)
	for _, r := range slices.Concat(r.in, s.constants) {
		h.Write(s.contents(r))
	}
	if r.textures {
		maphash.WriteComparable(&h, s.memory.TextureVersion())
	}
	return h.Sum64()
}

// exists reports whether each of some ranges is in an allocation.
func (s *session) exists(list []order.Range) bool {
	for _, r := range list {
		a, ok := s.memory.Find(r.From)
		if !ok || r.To > a.Addr+a.Size {
			return false
		}
	}
	return true
}
