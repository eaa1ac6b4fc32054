package lower

import "testing"

// TestReasonOfTool: what llc prints has addresses of its nodes, which are others in each run; a
// reason is the same each time.
func TestReasonOfTool(t *testing.T) {
	e := &ToolError{Tool: "/usr/bin/llc-19", Output: "LLVM ERROR: Cannot select: 0x55c137ff9eb0: " +
		"ch = AtomicFence 0x5627f04364d8, TargetConstant:i64<4>\nIn function: k\n"}
	want := "it cannot be lowered to PTX: llc-19: LLVM ERROR: Cannot select: ch = AtomicFence " +
		"TargetConstant:i64<4>"
	if got := e.reason(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
