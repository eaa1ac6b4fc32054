package main

import (
	"debug/elf"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"heddle/internal/lower/fatbin/fatbintest"
)

// fatbinCommand is a command of the scripts:
//
//	fatbin [-elf] OUT KIND:ARCH:COMPRESSION:SOURCE... [+ KIND:...]
//
// writes a fatbin, or an ELF file with one. KIND ptx reads SOURCE, a file; for cubin, SOURCE names its kernel. A plus
// begins a new region.
func fatbinCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		inELF := len(args) > 0 && args[0] == "-elf"
		if inELF {
			args = args[1:]
		}
		if neg || len(args) < 2 {
			ts.Fatalf("usage: fatbin [-elf] OUT KIND:ARCH:COMPRESSION:SOURCE...")
		}
		var content []byte
		var images []fatbintest.Image
		for _, a := range append(args[1:], "+") {
			if a == "+" {
				content = append(content, fatbintest.Region(t, images...)...)
				images = nil
				continue
			}
			images = append(images, imageOf(ts, a))
		}
		if inELF {
			content = fatbintest.ELF(elf.EM_X86_64, fatbintest.Section{Name: ".text", Data: []byte("x")}, fatbintest.Section{Name: ".nv_fatbin", Data: content})
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o666))
	}
}

func imageOf(ts *testscript.TestScript, arg string) fatbintest.Image {
	f := strings.Split(arg, ":")
	if len(f) != 4 {
		ts.Fatalf("%q is not KIND:ARCH:COMPRESSION:SOURCE", arg)
	}
	im := fatbintest.Image{Kind: 1, Comp: f[2]}
	if _, err := fmt.Sscan(f[1], &im.Arch); err != nil {
		ts.Fatalf("%s: %v", arg, err)
	}
	if f[0] == "cubin" {
		im.Kind, im.Data = 2, fatbintest.Cubin(f[3])
		return im
	}
	im.Header, im.Name, im.Data = 112, f[3], []byte(ts.ReadFile(f[3]))
	return im
}
