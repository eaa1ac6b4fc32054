package ptx

// Nodes are small and many. They are allocated in runs, which grow with the file, so that a small file
// wastes little and a large one allocates seldom.

const (
	firstRun = 16
	lastRun  = 512
)

// slab allocates values of one type.
type slab[T any] struct {
	free []T
	run  int
}

// alloc returns a new zero value.
func (s *slab[T]) alloc() *T {
	if len(s.free) == 0 {
		s.grow()
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}

func (s *slab[T]) grow() {
	s.run = min(max(2*s.run, firstRun), lastRun)
	s.free = make([]T, s.run)
}

// slices cuts short slices from long ones.
type slices[T any] struct {
	free []T
	run  int
}

// copy returns a copy of list whose capacity is its length; nil for an empty one.
func (s *slices[T]) copy(list []T) []T {
	n := len(list)
	if n == 0 {
		return nil
	}
	if len(s.free) < n {
		s.run = min(max(2*s.run, firstRun), lastRun)
		s.free = make([]T, max(s.run, n))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	copy(out, list)
	return out
}
