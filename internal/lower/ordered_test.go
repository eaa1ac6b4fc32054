package lower

import (
	"slices"
	"strings"
	"testing"
)

// TestOrdered checks which fences stand around a relaxed operation for each order (PTX ISA 8.7): one
// that releases has one in front of it, one that acquires one behind it.
func TestOrdered(t *testing.T) {
	const attached = ", !dbg !7"
	for _, tt := range []struct {
		line, before, relaxed, after string
	}{
		{"%x = load atomic i32, ptr %p acquire, align 4",
			"", "%x = load atomic i32, ptr %p monotonic, align 4", "fence.acq_rel.sys"},
		{`%x = load atomic i32, ptr addrspace(1) %p syncscope("device") seq_cst, align 4`, "fence.sc.gpu",
			`%x = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4`,
			"fence.acq_rel.gpu"},
		{"store atomic i32 1, ptr %p release, align 4",
			"fence.acq_rel.sys", "store atomic i32 1, ptr %p monotonic, align 4", ""},
		{"store atomic i32 1, ptr %p seq_cst, align 4",
			"fence.sc.sys", "store atomic i32 1, ptr %p monotonic, align 4", ""},
		{"%x = atomicrmw add ptr %p, i32 1 acq_rel, align 4", "fence.acq_rel.sys",
			"%x = atomicrmw add ptr %p, i32 1 monotonic, align 4", "fence.acq_rel.sys"},
		{`%x = atomicrmw volatile xchg ptr %p, i32 1 syncscope("block") release`, "fence.acq_rel.cta",
			`%x = atomicrmw volatile xchg ptr %p, i32 1 syncscope("block") monotonic`, ""},
		{"%x = cmpxchg weak ptr %p, i32 0, i32 1 acquire monotonic, align 4", "",
			"%x = cmpxchg weak ptr %p, i32 0, i32 1 monotonic monotonic, align 4", "fence.acq_rel.sys"},
		{"%x = cmpxchg ptr %p, i32 0, i32 1 release acquire", "fence.acq_rel.sys",
			"%x = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic", "fence.acq_rel.sys"},
		{"%x = atomicrmw fadd ptr %p, float 1.0 seq_cst, align 4", "", // atomicAdd
			"%x = atomicrmw fadd ptr %p, float 1.0 seq_cst, align 4", ""},
		{"fence acquire", "fence.acq_rel.sys", "", ""},
		{"fence seq_cst", "fence.sc.sys", "", ""},
		{`fence syncscope("singlethread") seq_cst`, "", "", ""},
		{"%x = load atomic i32, ptr %p monotonic, align 4",
			"", "%x = load atomic i32, ptr %p monotonic, align 4", ""},
		{"%x = load i32, ptr @atomic_release, align 4", "", "%x = load i32, ptr @atomic_release, align 4", ""},
	} {
		var want []string
		for _, s := range []string{tt.before, "=" + tt.relaxed, tt.after} {
			switch relaxed, isOp := strings.CutPrefix(s, "="); {
			case isOp && relaxed != "":
				want = append(want, "  "+relaxed+attached)
			case !isOp && s != "":
				want = append(want, `  call void asm sideeffect "`+s+`;", "~{memory}"()`+attached)
			}
		}
		if got := ordered("  "+tt.line+attached, false); !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", tt.line, got, want)
		}
	}
	if got := ordered("  fence acquire", true); len(got) != 1 || !strings.Contains(got[0], "membar.sys") {
		t.Errorf("without fences: %q", got)
	}
}
