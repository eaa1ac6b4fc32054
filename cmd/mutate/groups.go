package main

import (
	"fmt"
	"os"
	"path"

	"heddle/internal/testing/mutate"
)

// equivalentFile lists the mutants that no test can notice, from the directory of the module.
const equivalentFile = "internal/testing/mutate/testdata/equivalent.txt"

// A group is the packages that are measured together.
type group struct {
	name     string   // directory of the first package
	packages []string // patterns of go list
	files    []string // patterns of base names; empty for all
	judges   []judge  // tests of other packages that may kill mutants, besides the packages' own

	short bool // run the packages' own tests as go test -short does: others take minutes

	// Percent to kill, where it is below that of the others: the tests do not reach it yet.
	min float64
}

// enough reports whether as many mutants are killed as the group must reach.
func (g *group) enough(percent, min float64) bool {
	return percent >= min || g.min > 0 && percent >= g.min
}

// A judge is tests of one package.
type judge struct {
	pkg string
	run string // as for go test -run; empty for all
}

// groups are the packages that decide verdicts, placements and repairs.
var groups = []group{
	{name: "internal/race", packages: []string{"./internal/race"}, judges: []judge{suite}},
	{name: "internal/verify", packages: []string{"./internal/verify"},
		judges: []judge{{pkg: "internal/lockstep"}, programs, proofs}},
	{name: "internal/lockstep", packages: []string{"./internal/lockstep/..."},
		judges: []judge{{pkg: "internal/verify"}, programs, proofs}},
	{name: "internal/invariant", packages: []string{"./internal/invariant"},
		judges: []judge{{pkg: "internal/lockstep"}, programs, proofs}},
	{name: "internal/slice", packages: []string{"./internal/slice"},
		judges: []judge{{"internal/testing/ptxtest", "^TestTrace$"}, {"internal/engine/trace", ""},
			{"internal/testing/nodiff", "^TestTraceOfRandomKernels$"}}},
	{name: "internal/smt", packages: []string{"./internal/smt", "./internal/smt/sat",
		"./internal/smt/cdcl"}, judges: []judge{{pkg: "internal/verify"}}},
	{name: "internal/emu", packages: []string{"./internal/emu"}, short: true,
		files:  []string{"barrier*.go", "schedule.go", "policy.go", "spin.go", "warpsync.go"},
		judges: []judge{suite, {"internal/testing/ptxtest", "^TestTrace$"}}},
	{name: "internal/place", packages: []string{"./internal/place/..."},
		judges: []judge{{pkg: "internal/engine/placement"}}},
	{name: "internal/repair", packages: []string{"./internal/repair"},
		judges: []judge{{"internal/command/fix", "^Test(Fix|FixRandom|RewriteComputesTheSame)$"}}},
	{name: "internal/memmodel", packages: []string{"./internal/memmodel"},
		judges: []judge{{pkg: "internal/explore"}}},
	{name: "internal/explore", packages: []string{"./internal/explore"},
		judges: []judge{{pkg: "internal/explore/kernel"}, {pkg: "internal/engine/exhaustive"}}},
}

// Judges of several groups: the kernels that state their own findings, and those that state what is
// proved about them.
var (
	suite    = judge{"internal/testing/ptxtest", "^TestSuite$"}
	programs = judge{"internal/check", "^TestPrograms$"}
	proofs   = judge{"internal/engine/prove", "^(TestChecked|TestOpenCLProofs)$"}
)

// has reports whether the group includes a file with this base name.
func (g *group) has(name string) bool {
	for _, p := range g.files {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return len(g.files) == 0
}

// loadEquivalent reads the list of equivalent mutants.
func loadEquivalent(name string) ([]mutate.Equivalent, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list, err := mutate.ParseEquivalent(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}
