package ptx

// Nodes of the frequent kinds are allocated in runs, which grow with the file, so that a small file wastes
// little and a large one allocates seldom.

const (
	firstRun = 4
	lastRun  = 128
)

// slab allocates values of one type.
type slab[T any] struct {
	run  []T
	used int // of run; an index, since moving a pointer at every call would cost a write barrier
}

// alloc returns a new zero value.
func (s *slab[T]) alloc() *T {
	if s.used == len(s.run) {
		s.run = make([]T, min(max(2*len(s.run), firstRun), lastRun))
		s.used = 0
	}
	p := &s.run[s.used]
	s.used++
	return p
}

// one returns a list of one value.
func (s *slab[T]) one(v T) []T {
	p := s.alloc()
	*p = v
	return s.run[s.used-1 : s.used : s.used]
}
