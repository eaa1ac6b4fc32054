package fix

import (
	"context"
	"fmt"
	"strconv"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/repair"
)

// Only selects the findings that are repaired: races with a code, or at a line of the source. A
// placement of barriers is then the only repair that is tried, since it alone says which races each
// of its parts is for.
type Only struct {
	Code diag.Code // empty: any
	Line int       // 0: any
}

// ParseOnly reads a code or the number of a line.
func ParseOnly(word string) (Only, error) {
	if n, err := strconv.Atoi(word); err == nil && n > 0 {
		return Only{Line: n}, nil
	}
	switch code := diag.Code(word); code {
	case diag.CodeRaceShared, diag.CodeRaceGlobal:
		return Only{Code: code}, nil
	}
	return Only{}, fmt.Errorf("%q: expected %s, %s or a line", word, diag.CodeRaceShared,
		diag.CodeRaceGlobal)
}

// selects reports whether a race between two instructions is to be repaired.
func (o Only) selects(a, b *ir.Instr) bool {
	code := diag.CodeRaceGlobal
	if a.Space == event.Shared {
		code = diag.CodeRaceShared
	}
	line := func(in *ir.Instr) int { return driver.Place(in).Start.Line() }
	return (o.Code == "" || o.Code == code) && (o.Line == 0 || o.Line == line(a) || o.Line == line(b))
}

// wanted reports whether a race is to be repaired.
func (f *fixer) wanted(a, b *ir.Instr) bool {
	for _, o := range f.opt.Only {
		if o.selects(a, b) {
			return true
		}
	}
	return false
}

// searchOnly looks for a placement that separates the selected races.
func (x *kernelFix) searchOnly(ctx context.Context, p *parsed) error {
	err := x.place(ctx, p)
	if err == nil && x.placed != nil && x.placed.grade() != repair.Verified {
		err = x.partly(ctx)
	}
	if x.placed == nil {
		x.result.Reason = "no placement of barriers separates the findings that are selected"
	}
	return err
}
