package fix

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// removal is a kind of instruction that the mutants lack, one at a time.
type removal struct {
	name string
	line *regexp.Regexp
	// repaired is how many of a hundred mutants in which heddle finds a bug are repaired at least.
	repaired int
}

var removals = []removal{
	{"proxy fence", regexp.MustCompile(`^\s*fence\.proxy\.async`), 100},
	{"wait", regexp.MustCompile(`^\s*(W\d+: )?mbarrier\.try_wait`), 100},
	{"arrival", regexp.MustCompile(`^\s*(@!?%p\d+ )?mbarrier\.arrive\.(shared|release|relaxed)`), 80},
	{"announcement", regexp.MustCompile(`^\s*(@!?%p\d+ )?mbarrier\.(arrive\.)?expect_tx`), 100},
	{"initialization", regexp.MustCompile(`^\s*(bar\.sync 0|barrier\.sync)`), 100},
	{"cluster barrier", regexp.MustCompile(`^\s*barrier\.cluster`), 100},
	{"group", regexp.MustCompile(`^\s*(@!?%p\d+ )?(cp\.async\.bulk|wgmma)\.(commit|wait)_group`), 100},
	{"matrix fence", regexp.MustCompile(`^\s*wgmma\.fence`), 100},
}

// right are kernels without a bug that use mbarriers, bulk copies, clusters and wgmma.
func right(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"mbarrier/*clean.ptx", "cluster/right.ptx", "wgmma/right.ptx"} {
		files, err := filepath.Glob("../../../testdata/suite/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out[path] = string(text)
		}
	}
	return out
}

// mutantFix repairs a kernel of a text of PTX.
func mutantFix(t *testing.T, kernel, text string) (*Kernel, string) {
	t.Helper()
	opt := Options{Common: driver.Options{Files: source.NewSet(), Limit: 20, Kernel: kernel}}
	in := driver.Input{Input: lower.Input{Name: "mutant.ptx", Content: []byte(text), Lang: lower.PTX}}
	res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Fixes) != 1 {
		t.Fatalf("%s: %d kernels", kernel, len(res.Fixes))
	}
	return &res.Fixes[0], string(res.PTX)
}

var (
	loaded = regexp.MustCompile(`(?m)^\s*(@!?%\w+ )?ld\.shared(?:::\w+)?\.u32 (%\w+), \[[^;]*;`)
	inputs = regexp.MustCompile(`(?m)^(\.global \.align 128 \.b8 in\[(\d+)\]);`)
	header = regexp.MustCompile(`(?m)^\.address_size 64$`)
)

// valuesRead is a number for what each thread has read from shared memory in a run.
func valuesRead(t *testing.T, kernel, text string, seed uint64) []byte {
	t.Helper()
	text = header.ReplaceAllString(text, "$0\n.global .align 8 .b64 readings[1024];")
	for _, m := range inputs.FindAllStringSubmatch(text, -1) {
		size, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		numbers := make([]string, size)
		for i := range numbers {
			numbers[i] = fmt.Sprint(i*7%251 + 1)
		}
		text = strings.Replace(text, m[0], m[1]+" = {"+strings.Join(numbers, ", ")+"};", 1)
	}
	text = loaded.ReplaceAllString(text, `$0
	{ .reg .b64 %l<4>; .reg .b32 %m<2>;
	mov.u32 %m0, %tid.x; mov.u32 %m1, %ctaid.x; mad.lo.u32 %m0, %m1, 128, %m0;
	mul.wide.u32 %l0, %m0, 8; mov.u64 %l1, readings; add.u64 %l1, %l1, %l0;
	ld.global.u64 %l2, [%l1]; cvt.u64.u32 %l3, $2; mad.lo.u64 %l2, %l2, 31, %l3;
	add.u64 %l2, %l2, 1; st.global.u64 [%l1], %l2; }`)
	p, err := parseKernel("values.ptx", kernel, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	facts := launch.Scan(p.file, nil)
	cfg, errs := launch.Resolve(p.kernel, launch.Request{}, facts)
	if len(errs) > 0 {
		t.Fatal(errs[0].Msg)
	}
	m, err := emu.New(p.kernel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(t.Context(), emu.Options{Seed: seed, MaxSteps: 1_000_000, Workers: 1}, nil)
	if err != nil || res.Status != emu.Completed {
		t.Fatalf("%s: status %v %v", kernel, res.Status, err)
	}
	out := make([]byte, 8192)
	if _, err := res.Read("readings", 0, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// An instruction that is removed from a right kernel is restored, or replaced by what does the
// same: the judge accepts the result, and no part of the repair can be left out.
func TestRemoved(t *testing.T) {
	long.Sequential(t)
	texts := right(t)
	for _, r := range removals {
		t.Run(r.name, func(t *testing.T) {
			mutants, bugs, repaired, steps, read, other := 0, 0, 0, 0, 0, 0
			for path, text := range texts {
				lines := strings.SplitAfter(text, "\n")
				kernel := ""
				for i, line := range lines {
					if m := kernelLine.FindStringSubmatch(line); m != nil {
						kernel = m[1]
					}
					if !r.line.MatchString(line) || !long.Keep(path+kernel+line, 3) {
						continue
					}
					mutants++
					label, _, _ := strings.Cut(line, ":")
					mutant := strings.Join(lines[:i], "") + "//\n" + strings.Join(lines[i+1:], "")
					if strings.Contains(label, "W") && !strings.Contains(label, ".") {
						mutant = strings.Join(lines[:i], "") + label + ":\n" + strings.Join(lines[i+1:], "")
					}
					f, fixed := mutantFix(t, kernel, mutant)
					if f.Status == NothingToFix || f.Status == NotChecked {
						continue
					}
					bugs++
					if f.Status != Repaired {
						t.Logf("%s:%d (%s) %s: %s", filepath.Base(path), i+1, kernel, f.Status, f.Why)
						continue
					}
					repaired++
					steps += len(f.Changes)
					if bytes.Count(valuesRead(t, kernel, text, 1), []byte{0}) < 8192 {
						read++
					}
					for seed := range uint64(3) {
						if !bytes.Equal(valuesRead(t, kernel, text, seed), valuesRead(t, kernel, fixed, seed)) {
							other++
							t.Logf("other values:")
							break
						}
					}
					t.Logf("%s:%d (%s) %d texts: %s", filepath.Base(path), i+1, kernel, f.Judged, f.Changes[0].Text)
				}
			}
			t.Logf("%d mutants, %d with a bug, %d repaired by %d changes; %d of them read shared "+
				"memory, %d other values", mutants, bugs, repaired, steps, read, other)
			if other > 0 {
				t.Errorf("%d repaired kernels read other values", other)
			}
			if bugs == 0 || repaired*100 < bugs*r.repaired {
				t.Errorf("want %d of a hundred", r.repaired)
			}
		})
	}
}

// A wait that passes at once is seen in the values: what is read is not what the copy brings.
func TestValuesRead(t *testing.T) {
	text := right(t)["../../../testdata/suite/mbarrier/bulk_clean.ptx"]
	at := strings.Index(text, ".entry load()")
	early := text[:at] + strings.Replace(text[at:], "[full], 0;", "[full], 1;", 1)
	if bytes.Equal(valuesRead(t, "load", text, 1), valuesRead(t, "load", early, 1)) {
		t.Error("the same values without a wait")
	}
}

// What a repair adds to a source is a statement in the kernel, not in a function that it calls.
func TestAsmStatements(t *testing.T) {
	fence := `asm volatile("fence.proxy.async.shared::cta;" ::: "memory");`
	for _, c := range []struct{ file, kernel, before, added string }{
		{"proxy.cu", "tile_stored", "tile[threadIdx.x] = threadIdx.x * 3;", fence},
		{"proxy.cu", "rows_stored", "tile[i][threadIdx.x] = i + threadIdx.x;", fence},
		{"proxy.cu", "stage_filled_again", "sum += stage[t ^ 1];", fence},
		{"cluster.cu", "exits_early", "rank() ^ 1);",
			`asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");`},
		{"cluster.cu", "written_again", "store(out, tile, sizeof tile);",
			`asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");`},
	} {
		res, _, _ := fixFile(t, "../../../testdata/fix/"+c.file, c.kernel, Options{Source: true})
		var added []string
		before := ""
		for line := range strings.Lines(res.Diff) {
			text := strings.TrimSpace(strings.TrimPrefix(line, "+"))
			if strings.HasPrefix(line, "+ ") && strings.Contains(text, "asm") {
				added = append(added, text)
				if !strings.HasSuffix(before, c.before) {
					t.Errorf("%s: added behind %q, want behind %q", c.kernel, before, c.before)
				}
			}
			before = text
		}
		if len(added) != 1 || added[0] != c.added {
			t.Errorf("%s: added %q, want %q", c.kernel, added, c.added)
		}
	}
}
