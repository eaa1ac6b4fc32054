// Package cltest compares the built-in functions of OpenCL C that heddle provides with references
// in Go: it compiles kernels, executes them in the emulator, and compares what they store.
package cltest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
)

// compile lowers OpenCL C to a module.
func compile(t *testing.T, text string, opt lower.Options) *ir.Module {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.cl")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	opt.NoCache = true // each text is compiled once
	low, err := lower.File(t.Context(), path, opt)
	if ce, ok := err.(*lower.CompileError); ok {
		t.Fatalf("%s", ce.Output[:min(len(ce.Output), 3000)])
	}
	if err != nil {
		t.Fatal(err)
	}
	return kernels.PTX(t, string(low.PTX))
}

// run executes a kernel with one work-group of n work-items. args are the contents of buffers by
// parameter name; it returns the first size bytes of the buffer out.
func run(t *testing.T, m *ir.Module, kernel string, n int, args map[string][]byte, out string,
	size int) []byte {
	t.Helper()
	return runGroup(t, m, kernel, event.Dim3{X: uint32(n), Y: 1, Z: 1}, args, out, size)
}

// runGroup is run for a work-group of any dimensions.
func runGroup(t *testing.T, m *ir.Module, kernel string, group event.Dim3, args map[string][]byte,
	out string, size int) []byte {
	t.Helper()
	k := m.Kernel(kernel)
	if k == nil {
		t.Fatalf("no kernel %s", kernel)
	}
	req := launch.Request{Grid: &event.Dim3{X: 1, Y: 1, Z: 1}, Block: &group}
	for name, b := range args {
		req.Args = append(req.Args, launch.ArgSpec{Param: name, Offset: -1, Kind: launch.ArgBytes,
			Text: hex.EncodeToString(b)})
	}
	cfg, errs := launch.Resolve(k, req, nil)
	if len(errs) > 0 {
		t.Fatalf("%s: %v", kernel, errs[0])
	}
	machine, err := emu.New(k, cfg)
	if err != nil {
		t.Fatalf("%s: %v", kernel, err)
	}
	res, err := machine.Run(t.Context(), emu.Options{Workers: 1}, nil)
	if err != nil {
		t.Fatalf("%s: %v", kernel, err)
	}
	if res.Status != emu.Completed {
		t.Fatalf("%s: status %v %+v", kernel, res.Status, res.Stop)
	}
	b := make([]byte, size)
	if _, err := res.Read(out, 0, b); err != nil {
		t.Fatalf("%s: %v", kernel, err)
	}
	return b
}

// encode returns values as bytes in memory.
func encode(values any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// decode fills the slice that values points to.
func decode(t *testing.T, b []byte, values any) {
	t.Helper()
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
}
