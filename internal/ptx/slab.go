package ptx

// Nodes are small and many. They are allocated in runs, which grow with the file, so that a small file
// wastes little and a large one allocates seldom.

const (
	firstRun = 16
	lastRun  = 512
)

// slab allocates values of one type.
type slab[T any] struct {
	run  []T
	used int // of run; an index, since moving a pointer at every call would cost a write barrier
}

// alloc returns a new zero value.
func (s *slab[T]) alloc() *T {
	if s.used == len(s.run) {
		s.run = make([]T, nextRun(len(s.run)))
		s.used = 0
	}
	p := &s.run[s.used]
	s.used++
	return p
}

func nextRun(n int) int { return min(max(2*n, firstRun), lastRun) }

// arrays cuts short slices from long ones.
type arrays[T any] struct {
	run  []T
	used int
}

// copy returns a copy of list whose capacity is its length; nil for an empty one.
func (s *arrays[T]) copy(list []T) []T {
	n := len(list)
	if n == 0 {
		return nil
	}
	if s.used+n > len(s.run) {
		s.run = make([]T, max(nextRun(len(s.run)), n))
		s.used = 0
	}
	out := s.run[s.used : s.used+n : s.used+n]
	s.used += n
	copy(out, list)
	return out
}
