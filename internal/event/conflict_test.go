package event

import "testing"

// One block of two warps, and another block.
var unorderedGeometry = Geometry{Grid: Dim3{2, 1, 1}, Block: Dim3{64, 1, 1}, Cluster: Dim3{1, 1, 1}}

// op is an access of 4 bytes at address 0, or elsewhere if a case says so.
func op(t Thread, k Kind, o Order, s Scope) Op {
	return Op{Thread: t, Kind: k, Order: o, Scope: s, Size: 4}
}

// The expectations follow from the definitions of PTX ISA 8.7: strong, scopes that include each
// other, and complete overlap are morally strong; anything less is a data race, and not a pair that
// is only unordered.
func TestUnordered(t *testing.T) {
	const mate, block = 1, 64 // a lane of the same warp, a thread of another block
	at4, wide := op(mate, Write, Relaxed, Sys), op(mate, Write, Relaxed, Sys)
	at4.Addr, wide.Size = 4, 8
	for _, c := range []struct {
		what string
		a, b Op
		want bool
	}{
		{"volatile store and load", op(0, Write, Relaxed, Sys), op(mate, Read, Relaxed, Sys), true},
		{"two volatile stores", op(0, Write, Relaxed, Sys), op(mate, Write, Relaxed, Sys), true},
		{"other block", op(0, Write, Relaxed, GPU), op(block, Read, Relaxed, GPU), true},
		{"relaxed store, acquire load", op(0, Write, Relaxed, GPU), op(mate, Read, Acquire, GPU), true},
		{"release store, relaxed load", op(0, Write, Release, GPU), op(mate, Read, Relaxed, GPU), true},
		{"message: release, acquire", op(0, Write, Release, GPU), op(mate, Read, Acquire, GPU), false},
		{"two release stores", op(0, Write, Release, GPU), op(mate, Write, Release, GPU), false},
		{"two loads", op(0, Read, Relaxed, Sys), op(mate, Read, Relaxed, Sys), false},
		{"own store", op(0, Write, Relaxed, Sys), op(0, Read, Relaxed, Sys), false},
		{"a counter is read", op(0, Atomic, Relaxed, GPU), op(mate, Read, Relaxed, GPU), false},
		{"a lock is opened", op(0, Write, Relaxed, GPU), op(mate, Atomic, Relaxed, GPU), false},
		{"two atomics", op(0, Atomic, Relaxed, GPU), op(mate, Reduce, Relaxed, GPU), false},
		{"a weak load is a data race", op(0, Write, Relaxed, Sys), op(mate, Read, Weak, 0), false},
		{"block scope, another block", op(0, Write, Relaxed, CTA), op(block, Read, Relaxed, GPU), false},
		{"partial overlap", op(0, Read, Relaxed, Sys), wide, false},
		{"no overlap", op(0, Read, Relaxed, Sys), at4, false},
	} {
		for _, swap := range []bool{false, true} {
			a, b := c.a, c.b
			if swap {
				a, b = b, a
			}
			if got := Unordered(unorderedGeometry, a, b); got != c.want {
				t.Errorf("%s: %+v and %+v: %v, want %v", c.what, a, b, got, c.want)
			}
			if Unordered(unorderedGeometry, a, b) && Conflict(unorderedGeometry, a, b) {
				t.Errorf("%s: also a data race", c.what)
			}
		}
	}
}
