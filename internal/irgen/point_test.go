package irgen_test

import (
	"strings"
	"testing"

	"heddle/internal/irgen"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// TestPointNumbers: the number of a point is a decimal number that fits 31 bits; anything else is
// an error at its place, and pragmas of others are nobody's business.
func TestPointNumbers(t *testing.T) {
	for text, wrong := range map[string]bool{
		"heddle.point 0": false, "heddle.point 2147483647": false, "heddle.barrier 12": false,
		"heddle.point": false, "nounroll": false, "heddle.points 3": false,
		"heddle.point -1": true, "heddle.point 2147483648": true, "heddle.point ": true, "heddle.barrier x": true, "heddle.point 1 2": true,
	} {
		set := source.NewSet()
		file, err := set.Add("k.ptx", []byte(".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.pragma \""+text+"\";\n\tret;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		tree, errs := ptx.Parse(file)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		_, errs = irgen.Module(set, tree)
		switch {
		case wrong && len(errs) != 1:
			t.Errorf("%q: %d errors, want one", text, len(errs))
		case wrong && (errs[0].Span.Start.Line() != 6 || !strings.Contains(errs[0].Msg, "expected 0 to 2147483647")):
			t.Errorf("%q: %v", text, errs[0])
		case !wrong && len(errs) > 0:
			t.Errorf("%q: %v", text, errs[0])
		}
	}
}
