package slice

import (
	"strings"
	"testing"

	"heddle/internal/ir"
)

// Between has the instructions of both ways from a branch to where they meet, and of loops on them,
// but nothing of the branch and nothing behind the meeting point.
func TestBetween(t *testing.T) {
	_, k := roundsModule(t, "", `
	mov.u32 %t, %tid.x;
	setp.eq.u32 %p1, %t, 0;
	@%p1 bra LEFT;
	add.u32 %x0, %t, 10;
	bra MEET;
LEFT:
	add.u32 %x1, %t, 11;
	setp.lt.u32 %p2, %x1, 20;
	@%p2 bra LEFT;
MEET:
	add.u32 %x2, %t, 12;
	ret;
`)
	constants := func(list []*ir.Instr) (out []int64) {
		for _, in := range list {
			if strings.HasPrefix(in.Text(), "add") {
				out = append(out, int64(in.Src[1].Val))
			}
		}
		return out
	}
	meet := k.Blocks[len(k.Blocks)-1].ID
	got := constants(Between(k, k.Blocks[0], meet))
	if len(got) != 2 || got[0] != 10 || got[1] != 11 {
		t.Errorf("between the branch and where the ways meet: additions of %v, want 10 and 11", got)
	}
}
