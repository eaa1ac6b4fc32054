package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/launch"
)

// TestKnownParts: of a struct, the numbers that a flag, a comment or a saved launch gives are known:
// not pointers, what host code has, nor what is guessed. A field within bytes that are given too is
// part of these.
func TestKnownParts(t *testing.T) {
	part := func(at, size int, origin launch.Origin) launch.Part {
		return launch.Part{Offset: at, Size: size, Origin: origin}
	}
	const flag, saved, host = launch.FromFlag, launch.FromProgram, launch.FromHost
	type parts = []launch.Part
	pointer := []launch.PointerField{{Offset: 8}}
	for name, c := range map[string]struct {
		arg  launch.Arg
		want parts
	}{
		"nothing": {},
		"fields": {launch.Arg{Parts: parts{part(8, 4, flag), part(0, 2, flag)}},
			parts{part(8, 4, flag), part(0, 2, flag)}},
		"a field of host code": {arg: launch.Arg{Parts: parts{part(8, 4, host)}}},
		"a flag over that": {launch.Arg{Parts: parts{part(8, 4, host), part(8, 4, flag)}},
			parts{part(8, 4, host)}},
		"twice": {launch.Arg{Parts: parts{part(8, 4, flag), part(8, 4, flag)}}, parts{part(8, 4, flag)}},
		"a field of all": {launch.Arg{Parts: parts{part(0, 24, saved), part(8, 4, flag)}},
			parts{part(0, 24, saved)}},
		"pointers": {launch.Arg{Parts: parts{part(0, 24, saved)}, Fields: pointer},
			parts{part(0, 8, saved), part(16, 8, saved)}},
		"unknown": {arg: launch.Arg{Unknown: true}},
	} {
		c.arg.Bits = make([]byte, 24)
		if d := cmp.Diff(c.want, knownParts(&c.arg, 24)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
