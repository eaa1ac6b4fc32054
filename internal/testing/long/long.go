// Package long decides how much of the long tests runs. The ordinary run, which has to end within
// 25 minutes on two cores, takes a sample of long tables of cases. HEDDLE_LONG=tables takes all
// cases, for measurements of what the tests notice, and HEDDLE_LONG=1 also makes tests long that
// choose random inputs or need more than the ordinary machine.
package long

import (
	"hash/fnv"
	"os"
	"testing"
)

// Tables is the value of the variable HEDDLE_LONG for all cases of tables, and nothing else that is
// long.
const Tables = "tables"

// All reports whether everything is to run.
func All() bool { return tables() && os.Getenv("HEDDLE_LONG") != Tables }

// tables reports whether every case of a table is to run.
func tables() bool { return os.Getenv("HEDDLE_LONG") != "" }

// Sample skips a case of a table, which is a subtest, unless it is in the sample: about one of n,
// and a quarter of these with -short, for the race detector. Its name decides, so that a new case
// does not change which of the others run.
func Sample(t testing.TB, n int) {
	t.Helper()
	if !Keep(t.Name(), n) {
		t.Skipf("not in the sample; HEDDLE_LONG=1 runs all")
	}
}

// Least returns how much a test must see at least that must see n with all cases: a fifth of it in
// a sample of about a third or a quarter.
func Least(n int) int {
	if tables() {
		return n
	}
	return n / 5
}

// Keep reports whether a case is in the sample. See Sample.
func Keep(name string, n int) bool {
	if testing.Short() {
		n *= 4
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return tables() || h.Sum32()%uint32(n) == 0
}

// Sequential skips a test of many steps in one goroutine under the race detector, which makes it
// ten times as slow and can find nothing in it.
func Sequential(t testing.TB) {
	t.Helper()
	if underRace {
		t.Skip("one goroutine: the race detector has nothing to find")
	}
}
