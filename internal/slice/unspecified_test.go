package slice

import "testing"

// The elements of a vector are operands (PTX ISA 6.4.3): if one is the index of the block, the
// slice depends on it, and if one is a register of the machine, the result is unknown.
func TestSpecialInVector(t *testing.T) {
	const rest = "\n\tsetp.ne.u64 %p1, %w1, 0;\n\t@%p1 bra END;\n\tbar.sync 0;\nEND:\n\tret;\n"
	for _, c := range []struct {
		text          string
		block, unsure bool
	}{
		{"mov.b64 %w1, {%ctaid.x, %tid.x};", true, false},
		{"mov.b64 %w1, {%x1, %nctaid.y};", false, true}, // the grid is not specified
		{"mov.b64 %w1, {%tid.x, %smid};", false, true},
		{"mov.b64 %w1, {%tid.x, %ntid.x};", false, false},
	} {
		s, k := roundsModule(t, "", "\tmov.u32 %x1, 0;\n\t"+c.text+rest)
		unsure := false
		for _, b := range k.Blocks {
			for _, in := range b.Instrs {
				unsure = unsure || s.Role(k, in) == Unknown
			}
		}
		if s.BlockIndex != c.block || unsure != c.unsure {
			t.Errorf("%s: block index %v, unknown %v", c.text, s.BlockIndex, unsure)
		}
	}
}
