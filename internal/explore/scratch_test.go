package explore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/internal/litmus"
)

type sv struct {
	e    *Execution
	last map[int]int64
}

func (s sv) Value(t litmus.Term) int64 {
	if t.Thread < 0 {
		return s.last[t.Loc]
	}
	return s.e.Reg(t.Thread, t.Reg)
}

func TestScratch(t *testing.T) {
	dir := os.Getenv("DAT3M")
	csv, _ := os.ReadFile(filepath.Join(dir, os.Getenv("CSV")))
	want := map[string]string{}
	for line := range strings.Lines(string(csv)) {
		f, v, _ := strings.Cut(strings.TrimSpace(line), ",")
		want[f] = v
	}
	ok, bad := 0, 0
	un := map[string]int{}
	for f, v := range want {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		test, err := litmus.Read(f, string(text))
		if err != nil {
			if e := err.(*litmus.Error); !e.Unsupported {
				t.Error(err)
			}
			un[err.(*litmus.Error).Text]++
			continue
		}
		exists, all, hang := false, true, false
		start := time.Now()
		p := FromLitmus(test)
		races := 0
		s, err := Explore(context.Background(), p, Options{Unroll: 3}, func(e *Execution) {
			if e.End == Deadlock {
				hang = true
			}
			if len(e.Derived.Races()) > 0 {
				races++
			}
			if e.End != Ended {
				return
			}
			var locs []int
			for _, tm := range litmus.Terms(test.Condition.Expr) {
				if tm.Thread < 0 {
					locs = append(locs, tm.Loc)
				}
			}
			var rec func(i int, last map[int]int64)
			rec = func(i int, last map[int]int64) {
				if i == len(locs) {
					h := test.Condition.Expr.Holds(sv{e, last})
					exists = exists || h
					all = all && h
					return
				}
				for _, v := range e.Last(locs[i]) {
					last[locs[i]] = v
					rec(i+1, last)
				}
			}
			rec(0, map[int]int64{})
		})
		got := "0"
		switch test.Condition.Quantifier {
		case litmus.Exists:
			if exists {
				got = "1"
			}
		case litmus.NotExists:
			if !exists {
				got = "1"
			}
		case litmus.Forall:
			if all {
				got = "1"
			}
		}
		if strings.Contains(os.Getenv("CSV"), "Live") {
			got = "1"
			if hang {
				got = "0"
			}
		}
		if d := time.Since(start); d > 200*time.Millisecond {
			fmt.Println("slow", f, d, s)
		}
		if err != nil {
			fmt.Println("error", f, err)
			un[err.Error()]++
			continue
		}
		if got == v {
			ok++
		} else {
			bad++
			fmt.Println("differs", f, "want", v, "got", got, s, "races", races)
		}
	}
	fmt.Println("ok", ok, "bad", bad)
	for k, v := range un {
		fmt.Println(v, k)
	}
}
