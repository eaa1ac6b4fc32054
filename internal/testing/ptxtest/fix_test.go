package ptxtest

import (
	"context"
	"fmt"
	"maps"
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
	"heddle/internal/testing/long"
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
	`^two threads race at the same instruction`: "no barrier fits between an " +
		"instruction and itself",
	`^threads of different blocks race`: "a block barrier does not order other blocks, and " +
		"neither does a fence without a flag that a thread waits for",
	`^bar(rier)?\.\w+ is in a part of the control flow`: "threads on other paths would be " +
		"counted at a barrier that expects only some",
	`^barriers that count only some threads`: "another count or another number is " +
		"another program",
	`^threads reach one barrier with different counts`:            "as before",
	`^no thread waits at a barrier`:                               "as before",
	`^threads may reach a barrier before its previous generation`: "as before",
	`^more threads may reach a barrier than it expects`:           "as before",
	`^a loop with several entries`:                                "threads cannot start it together",
	`^the race is inside a function that is called and not inlined`: "no edit of the kernel " +
		"reaches it",
	`^the barrier is inside a function that is called`: "as before",
	`^lanes wait at a warp operation`: "it is unknown which lanes were meant to take part in " +
		"an operation with a result",
	`^barriers order only some lanes of the warp`: "another mask or another order of barriers is " +
		"another program",
	`^threads have exited in a function`: "the function ends them, and no edit of the kernel " +
		"reaches it",
	`^(read|write|atomic|.*assertion|trap|barrier \d+) .*`: "a thread does something wrong on its " +
		"own",
	`^(mbarrier\.\w+|cp\.async\.bulk)\b`: "as before",
	`^no thread waits for an asynchronous operation before the block`: "another thread that waits " +
		"is another program",
	`^.* is not supported|^call of .*, which has no body`: "the kernel was not checked",
	`^the flag is set before the data`:                    "the program order itself is wrong",
	`^tcgen05\.\w+`:                                       "other operands, or another allocation, are another program",
	`^a race rests on a guess`:                            "whether it is one depends on what the user passes",
	`^deadlock: `:                                         "the run ends there, and what else a thread should wait for is unknown",
}

// unrepaired are broken kernels for which heddle fix finds no repair, although there is one.
var unrepaired = map[string]string{
	"broken.other_shape":              "a commit and a wait are missing, and an mbarrier for them",
	"broken.overwritten_by_copy":      "as before",
	"sparse_broken.copied_behind":     "as before",
	"sparse_broken.dense_then_sparse": "as before",
	"broken.multicast_exited":         "a wait for the other block is missing, in one that does not know it",
	"pairs_broken.no_tail":            "as before, at the end of a loop",
	"pairs_broken.one_told":           "another commit is missing, to a mask of blocks",
	"pairs_broken.accumulator_early":  "the arrival has to move behind the loads, in another warp",
}

// Every broken kernel of the repository is repaired, or has a reason that accepted lists. No
// correct kernel is changed. The log counts the results, including those of kernels for heddle
// trace and heddle sync.
func TestFixOwnKernels(t *testing.T) {
	rows := map[string][]string{}
	for _, dir := range []string{suiteDir, traceDir, examplesDir, "../../../testdata/verify",
		"../../../testdata/sync", "../../../testdata/fix"} {
		for i, path := range kernels(t, dir) {
			if !long.All() && i%32 != 0 {
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
		if err := options(&opt.Common, &opt.Run.Seeds, exp.Options); err != nil {
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
		if unrepaired[strings.TrimSuffix(base, ".ptx")+"."+name] != "" {
			ok = f.Status == fix.NotRepaired
		}
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
	if strings.Contains(text, "// want trap") && strings.Count(text, "// want") == 1 {
		return "other" // the program wants to end there
	}
	if n := strings.Count(text, "// want"); n > 0 && n == strings.Count(text, "// want misaligned") {
		return "other" // no barrier helps
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
