package emu

import (
	"context"
	"testing"

	"heddle/internal/slice"
)

// TestTraceStartsUnknown: a trace holds for all contents of shared memory at its start, so that it
// stops where a word that nothing has written decides whether a thread reaches a barrier. A word
// that the kernel has written is known.
func TestTraceStartsUnknown(t *testing.T) {
	const decl = ".shared .align 4 .b8 sh[8];\n"
	const use = "bar.sync 0;\nld.shared.u32 %v, [sh];\nsetp.eq.u32 %c, %v, 1;\n" +
		"@%c bar.sync 1, 64;\nret;"
	for text, want := range map[string]Status{
		decl + use:                                Stopped,
		decl + "st.shared.u32 [sh], 1;\n" + use:   Completed,
		decl + "st.shared.u32 [sh+4], 1;\n" + use: Stopped,
	} {
		k := kernel(t, text)
		m, err := NewTrace(k, config(1, 64, buffer("out", 4)), slice.Of(k, slice.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(context.Background(), Options{}, nil)
		if err != nil || res.Status != want {
			t.Errorf("%s\nthe trace ended with status %d, want %d; %v", text, res.Status, want, err)
		}
	}
}
