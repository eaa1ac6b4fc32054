package emu

import (
	"strings"
	"testing"
)

// A launch cannot say which function a pointer parameter stands for; the buffer that it gets is no
// function, which is no bug of the kernel. A call of address zero is one.
func TestIndirectCallOfData(t *testing.T) {
	for target, want := range map[string]StopKind{"%p": Unsupported, "0": OutOfBounds} {
		k := module(t,
			callKernel("mov.u64 %q, "+target+
				";\n\tT: .calltargets twice, plus7;\n\tcall (%v), %q, (%i), T;"))
		_, res, _ := start(t, k, config(1, 32, buffer("out", 128)), Options{})
		if s := res.Stop; s == nil || s.Kind != want ||
			!strings.Contains(s.Message, "indirect call of address") {
			t.Errorf("call of %s: %+v, want %v", target, s, want)
		}
	}
}
