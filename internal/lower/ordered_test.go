package lower

import (
	"strings"
	"testing"
)

// TestOrdered checks which instructions of PTX stand for operations with an order (PTX ISA 9.7.9.8,
// 9.7.9.11): never one that orders more than C++ promises.
func TestOrdered(t *testing.T) {
	const attached = ", !dbg !7"
	for _, tt := range [][2]string{
		{"%x = load atomic i32, ptr %p acquire, align 4",
			`%x = call i32 asm sideeffect "ld.acquire.sys.u32 $0, [$1];", "=r,l,~{memory}"(ptr %p)`},
		{`%x = load atomic volatile i64, ptr addrspace(1) %p syncscope("device") seq_cst, align 8`,
			`%x = call i64 asm sideeffect "ld.acquire.gpu.global.u64 $0, [$1];", ` +
				`"=l,l,~{memory}"(ptr addrspace(1) %p)`},
		{"store atomic i32 1, ptr %p release, align 4",
			`call void asm sideeffect "st.release.sys.u32 [$0], $1;", "l,r,~{memory}"(ptr %p, i32 1)`},
		{`store atomic float %v, ptr addrspace(3) @s syncscope("block") seq_cst, align 4`,
			`call void asm sideeffect "st.release.cta.shared.f32 [$0], $1;", ` +
				`"l,f,~{memory}"(ptr addrspace(3) @s, float %v)`},
		{"%x = load atomic i32, i32* %p acquire, align 4",
			`%x = call i32 asm sideeffect "ld.acquire.sys.u32 $0, [$1];", "=r,l,~{memory}"(i32* %p)`},
		{"fence acq_rel", `call void asm sideeffect "fence.acq_rel.sys;", "~{memory}"()`},
		{`fence syncscope("singlethread") seq_cst`, ""},
	} {
		line, want := tt[0], tt[1]
		got := strings.Join(ordered("  "+line+attached), "\n")
		if want != "" {
			want = "  " + want + attached
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", line, got, want)
		}
	}
	for _, line := range []string{
		"%x = load atomic i32, ptr %p monotonic, align 4",
		"%x = load i32, ptr @atomic_release, align 4",
		"%x = atomicrmw add ptr %p, i32 1 acq_rel, align 4",
		"%x = cmpxchg ptr %p, i32 0, i32 1 acquire monotonic, align 4",
		"fence acquire", "fence release", "fence seq_cst",
		`%x = load atomic i32, ptr %p syncscope("wavefront") acquire, align 4`,
		"%x = load atomic i8, ptr %p acquire, align 1",
	} {
		if got := ordered("  " + line); len(got) != 1 || got[0] != "  "+line {
			t.Errorf("%s becomes %q", line, got)
		}
	}
}
