package ptxtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/command/fix"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// The markers of a file: for all of its kernels, or above each kernel.
var (
	saidAll  = regexp.MustCompile(`(?m)^// expect: (\w+)`)
	saidEach = regexp.MustCompile(`(?m)^// (verified|race|divergence|unknown|repaired|not repaired|redundant|unchanged)(?:, unconfirmed)?: .*(?:\n//.*)*\n(?:__global__ void |(?:__)?kernel void |\.visible \.entry )(\w+)`)
)

// fixed maps markers to the results that heddle fix may have.
var fixed = map[string]string{
	"clean": "right", "verified": "right", "redundant": "right", "unchanged": "right",
	"bug": "wrong", "race": "wrong", "divergence": "wrong", "repaired": "wrong",
	"not repaired": "wrong",
}

// accepted lists the reasons for which heddle fix may leave a broken kernel unrepaired, each with
// an explanation why no repair exists.
var accepted = map[string]string{
	`^two threads race at the same instruction`:                     "no place for a barrier lies between an instruction and itself",
	`^threads of different blocks race`:                             "a barrier of a block orders no others, and without a flag that one waits for no fence does",
	`^bar(rier)?\.\w+ is in a part of the control flow`:             "threads that would go another way would be counted at a barrier that counts some",
	`^barriers that count only some threads`:                        "another count or another number is another program",
	`^threads come to one barrier with different counts`:            "as before",
	`^nobody waits at a barrier`:                                    "as before",
	`^threads may come to a barrier before its last round`:          "as before",
	`^more threads may come to a barrier than it counts`:            "as before",
	`^a loop with several entries`:                                  "it has no iteration that threads could begin together",
	`^the race is inside a function that is called and not inlined`: "no edit of the kernel reaches it",
	`^the barrier is inside a function that is called`:              "as before",
	`^lanes wait at a warp operation`:                               "which lanes are meant to take part in an operation with a result is not known",
	`^barriers order some lanes of the warp only`:                   "another mask or another order of meetings is another program",
	`^threads have exited in a function`:                            "a function ends them, and no edit of the kernel reaches it",
	`^(read|write|atomic|.*assertion|trap|barrier \d+) .*`:          "a thread does what it must not, whatever the others do",
	`^.* is not supported|^call of .*, which has no body`:           "it was not looked at",
	`^the flag is set before the data`:                              "the order of the program itself is wrong, and a fence keeps it",
}

// Every broken kernel of the repository is repaired, or has a reason that accepted lists. No
// correct kernel is changed. The log counts the results, including those of kernels for heddle
// trace and heddle sync.
func TestFixOwnKernels(t *testing.T) {
	rows := map[string][]string{}
	for _, dir := range []string{suiteDir, traceDir, examplesDir, "../../../testdata/verify",
		"../../../testdata/sync", "../../../testdata/fix"} {
		for i, path := range kernels(t, dir) {
			if os.Getenv("HEDDLE_LONG") == "" && i%32 != 0 {
				continue
			}
			fixOwn(t, dir, path, rows)
		}
	}
	right, wrong := 0, 0
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		t.Logf("%4d %s: %s", len(rows[k]), k, strings.Join(rows[k], ", "))
		if strings.HasPrefix(k, "right") {
			right += len(rows[k])
		} else if strings.HasPrefix(k, "wrong") {
			wrong += len(rows[k])
		}
	}
	if right < 5 || wrong < 5 {
		t.Errorf("only %d correct and %d broken kernels were found", right, wrong)
	}
}

func fixOwn(t *testing.T, dir, path string, rows map[string][]string) {
	text, err := Source(path)
	if err != nil {
		t.Fatal(err)
	}
	opt := fix.Options{
		Common: driver.Options{Files: source.NewSet(), Limit: 20},
		Prove:  prove.Options{Timeout: time.Minute}, // long enough for a proof on a busy machine
		Budget: 5 * time.Minute,
	}
	if exp, err := Parse(string(text)); err == nil {
		if err := options(&opt.Common, exp.Options); err != nil {
			t.Fatal(err)
		}
	}
	res, err := fix.File(context.Background(), opt,
		driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
	if err != nil {
		rows["error"] = append(rows["error"], fmt.Sprintf("%s: %v", path, err))
		return
	}
	for i := range res.Fixes {
		f := &res.Fixes[i]
		name, base := launch.BaseName(f.Kernel), filepath.Base(path)
		want := said(string(text), name)
		if dir == traceDir { // what is said there is about heddle trace
			want = "other"
		}
		ok, why := allowed(want, f)
		if !ok {
			t.Errorf("%s: %s is %s: %s, %s", base, name, want, f.Status, f.Why)
		}
		row := fmt.Sprintf("%-5s %s", want, f.Status)
		if why != "" {
			row += ": " + why
		} else {
			row += ", " + f.Verdict()
		}
		rows[row] = append(rows[row], strings.TrimSuffix(base, filepath.Ext(base))+"."+name)
	}
}

// said returns "right", "wrong" or "other".
func said(text, kernel string) string {
	word := ""
	if m := saidAll.FindStringSubmatch(text); m != nil {
		word = m[1]
	}
	for _, m := range saidEach.FindAllStringSubmatch(text, -1) {
		if m[2] == kernel {
			word = m[1]
		}
	}
	if w := fixed[word]; w != "" {
		return w
	}
	return "other"
}

// allowed reports whether a result is acceptable for a kernel, and the accepted reason if it stays
// broken.
func allowed(want string, f *fix.Kernel) (bool, string) {
	if f.Status == fix.NothingToFix || f.Status == fix.Repaired {
		return want == "other" || (want == "right") == (f.Status == fix.NothingToFix), ""
	}
	for rx := range accepted {
		if m := regexp.MustCompile(rx).FindString(f.Why); m != "" {
			return want != "right", rx
		}
	}
	return want == "other" || want == "right" && f.Status == fix.NotChecked, f.Why
}
