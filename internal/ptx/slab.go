package ptx

// Nodes of frequent kinds are allocated in runs that grow with the file, so that a small file
// wastes little memory and a large one allocates rarely.

// The lengths of the first run and of the longest.
const (
	firstRun = 4
	lastRun  = 128
)

// slab allocates values of one type. They are freed together, when no pointer into their run is
// left, which suits a tree that is freed as one.
type slab[T any] struct {
	run  []T // current allocation
	used int // values of run in use; re-slicing run instead would cost a write barrier per call
}

// alloc returns a pointer to a new zero value, which stays valid for as long as it is used.
func (s *slab[T]) alloc() *T {
	if s.used == len(s.run) {
		s.run = make([]T, min(max(2*len(s.run), firstRun), lastRun))
		s.used = 0
	}
	p := &s.run[s.used]
	s.used++
	return p
}

// one returns a list of one value, which can be appended to without affecting other values.
func (s *slab[T]) one(v T) []T {
	p := s.alloc()
	*p = v
	return s.run[s.used-1 : s.used : s.used]
}
