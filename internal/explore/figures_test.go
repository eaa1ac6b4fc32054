package explore

import (
	"bufio"
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/internal/litmus"
)

// differsFromDat3M are tests of Dat3M whose results differ, with the reason.
var differsFromDat3M = map[string]string{
	"quorum1-pass.litmus": threeAtTwo, "quorum2-pass.litmus": threeAtTwo,
	"quorum3-pass.litmus": threeAtTwo, "quorum4-pass.litmus": threeAtTwo,
	// Dat3M has two events for an atomic operation (testdata/litmus/atomic-observes-later-store.litmus).
	"LB+RMW-a.litmus": "an atomic operation is one operation (8.4), whose read precedes what it precedes",
}

const threeAtTwo = "one thread too many arrives at a barrier with a count and waits for ever " +
	"(9.7.13.1), so that no execution has a final state"

// TestDat3M compares with the results that Dat3M expects of its PTX tests (PTXv7_5-expected.csv),
// if HEDDLE_DAT3M names a checkout of github.com/hernanponcedeleon/Dat3M. Tests of proxies and
// aliases are outside of the fragment, and refused by name.
func TestDat3M(t *testing.T) {
	root := os.Getenv("HEDDLE_DAT3M")
	if root == "" {
		t.Skip("HEDDLE_DAT3M names no checkout of Dat3M")
	}
	list, err := os.Open(filepath.Join(root, "dartagnan/src/test/resources/PTXv7_5-expected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	agree, refused, differ := 0, 0, 0
	for lines := bufio.NewScanner(list); lines.Scan(); {
		file, want, _ := strings.Cut(lines.Text(), ",")
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		test, err := litmus.Read(file, string(text))
		var mistake *litmus.Error
		if errors.As(err, &mistake) && mistake.Unsupported {
			refused++
			if !strings.Contains(file, "proxy/") {
				t.Errorf("%s is refused: %v", file, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		res, err := Judge(t.Context(), test, Options{Unroll: 4})
		got := map[Verdict]string{Ok: "1", No: "0"}[res.Verdict]
		switch {
		case err != nil:
			t.Errorf("%s: %v", file, err)
		case got == want:
			agree++
		case differsFromDat3M[filepath.Base(file)] != "":
			differ++
		default:
			t.Errorf("%s: %v, Dat3M expects %s", file, res.Verdict, want)
		}
	}
	t.Logf("%d agree, %d differ for a stated reason, %d of proxies are refused", agree, differ, refused)
}

// TestFigures prints, for tests of testdata/litmus, how many executions are explored, how many
// interleavings the longest of them has, and how many executions a second.
func TestFigures(t *testing.T) {
	for _, name := range []string{"mp-release-acquire", "iriw-fence-sc", "2+2w-fence-sc", "lock",
		"last-block", "chase-lev-fence-sc", "ticket-lock"} {
		text, err := os.ReadFile("../../testdata/litmus/" + name + ".litmus")
		if errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		test, err := litmus.Read(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		most := big.NewInt(0)
		start := time.Now()
		s, err := Explore(context.Background(), FromLitmus(test), Options{Unroll: 4}, func(e *Execution) {
			if n := interleavings(e); n.Cmp(most) > 0 {
				most = n
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-20s %6d executions %12v interleavings %8.0f executions/s", name, s.Executions, most,
			float64(s.Executions)/time.Since(start).Seconds())
	}
}

// interleavings counts the interleavings of the threads of an execution.
func interleavings(e *Execution) *big.Int {
	per := map[int]int64{}
	n := int64(0)
	for i := range e.Graph.Events {
		if t := e.Graph.Events[i].Thread; t >= 0 {
			per[t]++
			n++
		}
	}
	out := new(big.Int).MulRange(1, n)
	for _, k := range per {
		out.Div(out, new(big.Int).MulRange(1, k))
	}
	return out
}
