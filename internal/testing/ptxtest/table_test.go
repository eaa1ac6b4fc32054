package ptxtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// item is a situation that kernels of the testdata must show.
type item struct {
	number int
	right  bool
	what   string
	gap    string // what heddle does not model yet; "" for items that are decided
}

// table lists what kernels over mbarriers, bulk copies, proxies, wgmma, tcgen05 and clusters can do
// right and wrong. The kernel of an item has the comment "// table: NUMBER R" (right) or B (broken)
// in front of its entry, and the expected verdict of its file was written before the first run. The
// findings are those of docs/theory/phases.md and PTX ISA 8.9, 9.7.9.25 and 9.7.13.15.
var table = []item{
	{1, true, "two warps arrive and wait by state, three phases", ""},
	{2, false, "a count that is one too high: deadlock", ""},
	{3, false, "a count that is one too low: the last thread waits for the next phase", ""},
	{4, true, "a ring of one stage by parity, eight rounds", ""},
	{5, false, "the parity is not flipped: race", ""},
	{6, false, "a ring without an empty barrier: race, and phases are lapped", ""},
	{7, false, "an operation that nothing orders behind the initialization", ""},
	{8, false, "an object is initialized twice", ""},
	{9, true, "an object is invalidated, its memory holds data, and it is initialized again", ""},
	{10, false, "data is written over an object", ""},
	{11, false, "an object is invalidated while a copy is under way", ""},
	{12, false, "a relaxed arrival does not publish data", ""},
	{13, true, "a relaxed arrival behind a fence, a fence behind a relaxed wait", ""},
	{14, false, "the result of test_wait is not used", ""},
	{15, true, "a wait that sleeps between tests; a test before the wait", ""},
	{16, false, "the result of a test decides the control flow: a trace does not stand for all", ""},
	{17, true, "one thread arrives with a count", ""},
	{18, false, ".noComplete completes a phase", ""},
	{19, true, "arrive_drop", ""},
	{20, false, "a thread exits without its arrival: deadlock", ""},
	{21, true, "cp.async and cp.async.mbarrier.arrive", ""},
	{22, true, "the same with .noinc and a count for it", ""},
	{23, false, ".noinc and a count that is not for it", ""},
	{24, true, "a bulk copy whose bytes are expected first", ""},
	{25, false, "too few bytes are expected", ""},
	{26, false, "too many bytes are expected: deadlock that says how many", ""},
	{27, true, "two copies and one expectation, by another thread, which arrives", ""},
	{28, false, "a read before the wait", ""},
	{29, false, "a stage is filled again, and nothing orders its reads before that", ""},
	{30, true, "reads, a proxy fence, and a release before a stage is filled again", ""},
	{31, false, "the same without the proxy fence", ""},
	{32, true, "st, proxy fence, barrier, bulk store, commit, wait", ""},
	{33, false, "the same without the proxy fence", ""},
	{34, false, "the proxy fence names other memory", ""},
	{35, false, "wait_group.read, then the destination is read", ""},
	{36, false, "wait_group leaves one group too many", ""},
	{37, true, "bulk reductions of two blocks to one place", ""},
	{38, false, "a plain store beside a reduction", ""},
	{39, false, "a loop without rounds skips the only fence", ""},
	{40, true, "a ring of four stages with three consumer warps over three tiles", ""},
	{41, false, "the same with the parity reset for each tile", ""},
	{42, true, "a ring of stages for wgmma, released behind wait_group 0, or one group later", ""},
	{43, false, "wgmma before the wait for its operands", ""},
	{44, false, "operands of wgmma are written by st.shared, without a proxy fence", ""},
	{45, false, "an accumulator is read before wait_group", ""},
	{46, true, "A in registers", ""},
	{47, true, "one warp of four arrives for the warpgroup", ""},
	{48, true, "a remote arrival, with a cluster barrier at the start and at the end", ""},
	{49, false, "the same without the barrier at the end", ""},
	{50, true, "a multicast load to two and to four blocks", ""},
	{51, false, "the barrier of the second block does not expect the bytes", ""},
	{52, false, "a remote store before the other block has started", ""},
	{53, true, "a reduction by red.async", ""},
	{54, false, "a relaxed cluster arrival without fence.mbarrier_init", ""},
	{55, false, "one warp of four arrives for the warpgroup, while the group is pending", ""},
	{56, true, "tensor memory: alloc, mma, commit, wait, fence, ld, dealloc", ""},
	{57, false, "no commit", ""},
	{58, false, "no fence::after_thread_sync behind a relaxed wait", ""},
	{59, true, "two accumulators, two stages", ""},
	{60, false, "dealloc before the last ld is complete", ""},
	{61, false, "columns that are not allocated", ""},
	{62, true, "cp then mma without a wait", ""},
	{63, false, "ld behind mma without a wait", ""},
	{64, true, "tensor memory of a pair: alloc, mma, multicast commit, wait, fence, ld, dealloc", ""},
	{65, true, "two accumulators and two stages of a pair", ""},
	{66, false, "a block allocates for a pair before the other one has started", ""},
	{67, false, "dealloc of a pair around a barrier of the cluster", ""},
	{68, false, "dealloc of a pair before the last ld of the other block is known", ""},
	{69, false, "ld of the other block behind mma without a wait", ""},
	{70, false, "the operands of the other block are written, and mma does not wait for that", ""},
}

var tableComment = regexp.MustCompile(`^// table: (\d+) ([RB])$`)

// TestTable holds the kernels against the table: each item has a kernel whose file expects what the
// item says, or names what heddle does not model. The suites check the verdicts themselves.
func TestTable(t *testing.T) {
	found := make(map[int]bool)
	byNumber := make(map[int]*item)
	for i := range table {
		byNumber[table[i].number] = &table[i]
	}
	for _, path := range append(kernels(t, suiteDir), kernels(t, traceDir)...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			m := tableComment.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			n, _ := strconv.Atoi(m[1])
			it := byNumber[n]
			if it == nil || it.right != (m[2] == "R") {
				t.Errorf("%s:%d: no such item: %s", path, i+1, line)
				continue
			}
			found[n] = true
			if want := it.expected(path); !strings.Contains(string(text), "// expect: "+want+"\n") {
				t.Errorf("%s:%d: item %d (%s): the file does not expect %q", path, i+1, n, it.what, want)
			}
		}
	}
	for _, it := range table {
		switch {
		case it.gap == "" && !found[it.number]:
			t.Errorf("item %d (%s) has no kernel", it.number, it.what)
		case it.gap != "" && found[it.number]:
			t.Errorf("item %d (%s) has a kernel, although heddle does not model %s", it.number, it.what,
				it.gap)
		}
	}
}

// expected is the verdict that a file with a kernel of the item states: by runs in the suite, and
// by traces elsewhere.
func (it *item) expected(path string) string {
	switch {
	case it.right && filepath.Base(filepath.Dir(path)) == "trace":
		return "verified"
	case it.right:
		return "clean"
	case it.number == 16: // what a broken item means there
		return "unsupported"
	}
	return "bug"
}
