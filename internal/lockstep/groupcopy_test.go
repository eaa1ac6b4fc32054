package lockstep_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// groupCopyTraps are bodies of OpenCL kernels with copies of the work-group (OpenCL C 3.0,
// 6.15.11). A group has 64 work-items; p and q are global, s and r local arrays, i is the local
// index, g that of the first item of the group.
var groupCopyTraps = []struct{ name, text, why string }{
	{"copy, wait, barrier", `event_t e = async_work_group_copy(s, p + g, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[63 - i];`, ""},
	{"no wait", `event_t e = async_work_group_copy(s, p + g, 64, 0); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[63 - i];`, "the copy may be under way behind the barrier"},
	{"nothing but the end behind the copy", `async_work_group_copy(s, p + g, 64, 0);`, ""},
	{"a read in front of the wait", `event_t e = async_work_group_copy(s, p + g, 64, 0); q[g + i] = s[i]; wait_group_events(1, &e);`, "the copy may be under way, whoever makes it"},
	{"a write in front of the copy", `s[i] = 1; event_t e = async_work_group_copy(s, p + g, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i];`,
		"another work-item may begin the copy before this one has written"},
	{"a write, a barrier, the copy", `s[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(s, p + g, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i];`, ""},
	{"a wait is no barrier", `s[i] = 1; event_t e = async_work_group_copy(r, p + g, 64, 0); wait_group_events(1, &e); q[g + i] = s[63 - i];`, "nothing orders s"},
	{"the source is written beside the copy", `event_t e = async_work_group_copy(s, p + g, 64, 0); p[g + i] = 0; wait_group_events(1, &e);`, "the copy reads what is written"},
	{"another element of the source is written", `event_t e = async_work_group_copy(s, p + g, 32, 0); if (i >= 32) p[g + i] = 0; wait_group_events(1, &e);`, ""},
	{"the wait is for another event", `event_t e = async_work_group_copy(s, p + g, 64, 0); event_t f = async_work_group_copy(r, p + g, 64, 0); wait_group_events(1, &f); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i];`,
		"the first copy may be under way"},
	{"one event for two copies", `event_t e = async_work_group_copy(s, p + g, 64, 0); async_work_group_copy(r, p + g, 64, e); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i] + r[i];`, ""},
	{"an array of events", `event_t e[2]; e[0] = async_work_group_copy(s, p + g, 64, 0); e[1] = async_work_group_copy(r, p + g, 64, 0); wait_group_events(2, e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i] + r[i];`, ""},
	{"only the first of an array of events", `event_t e[2]; e[0] = async_work_group_copy(s, p + g, 64, 0); e[1] = async_work_group_copy(r, p + g, 64, 0); wait_group_events(1, e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i] + r[i];`,
		"the second copy is not waited for"},
	{"two copies to one place", `event_t e = async_work_group_copy(s, p + g, 64, 0); async_work_group_copy(s, q + g, 64, e); wait_group_events(1, &e);`, "both write s"},
	{"a copy that overlaps itself", `async_work_group_strided_copy(p + g, s, 64, 0, 0);`, "all elements go to one place"},
	{"a strided copy", `event_t e = async_work_group_strided_copy(s, p + 4 * g, 64, 4, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] = s[i];`, ""},
	{"not all come to the copy", `if (i < 10) async_work_group_copy(s, p + g, 64, 0);`, "all work-items must"},
	{"other arguments", `async_work_group_copy(s, p + i, 64, 0);`, "the arguments must be the same in all work-items"},
	{"another size", `async_work_group_copy(s, p + g, i, 0);`, "the arguments must be the same in all work-items"},
	{"back to global memory", `s[i] = i; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(q + g, s, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); q[g + i] += 1;`, ""},
	{"back to global memory, a use in front of the wait", `s[i] = i; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(q + g, s, 64, 0); q[g + i] += 1; wait_group_events(1, &e);`, "the copy may be under way"},
	{"back to global memory, no barrier in front", `s[i] = i; event_t e = async_work_group_copy(q + g, s, 64, 0); wait_group_events(1, &e);`, "others' elements need not be written yet"},
	{"a loop", `for (int k = 0; k < 4; k++) { event_t e = async_work_group_copy(s, p + g + k * 64, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] += s[63 - i]; barrier(CLK_LOCAL_MEM_FENCE); }`, ""},
	{"a loop without the second barrier", `for (int k = 0; k < 4; k++) { event_t e = async_work_group_copy(s, p + g + k * 64, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); q[g + i] += s[63 - i]; }`,
		"the next copy may overwrite what is read"},
	{"a loop that waits for the event of before", `event_t old = async_work_group_copy(r, p + g, 64, 0); for (int k = 0; k < 4; k++) { event_t e = async_work_group_copy(s, p + g + k * 64, 64, 0); wait_group_events(1, &old); old = e; barrier(CLK_LOCAL_MEM_FENCE); q[g + i] += s[63 - i]; barrier(CLK_LOCAL_MEM_FENCE); }`,
		"the copy of this iteration is not waited for"},
	{"what a work-item stored is not what the copy left", `__local int *c = (__local int *)s; c[i] = 7; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(s, p + g, 64, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE); if (c[0] != 7) q[0] = i;`,
		"the copy may have changed it"},
}

// TestGroupCopies: what is wrong is not verified, what is right is.
func TestGroupCopies(t *testing.T) {
	var text strings.Builder
	for k, tr := range groupCopyTraps {
		fmt.Fprintf(&text, "kernel void trap%d(global int *p, global int *q) { local int s[64], r[64]; int i = get_local_id(0); int g = 64 * get_group_id(0);\n%s\n}\n", k, tr.text)
	}
	path := filepath.Join(t.TempDir(), "k.cl")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	module, _ := kernels.File(t, path, lower.Options{})
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
	for _, f := range module.Funcs {
		var k int
		if n, _ := fmt.Sscanf(f.Name, "trap%d", &k); n != 1 || !f.Kernel {
			continue
		}
		tr := groupCopyTraps[k]
		t.Run(strings.ReplaceAll(tr.name, " ", "_"), func(t *testing.T) {
			th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: g})
			if err != nil {
				if tr.why == "" {
					t.Error(err)
				}
				t.Log(err)
				return
			}
			r := verify.Kernel(t.Context(), th, verify.Options{OnlyIntraBlock: true, Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
			if want := tr.why == ""; r.Verified() != want {
				t.Errorf("verified: %v. %s", r.Verified(), tr.why)
			}
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
		})
	}
}
