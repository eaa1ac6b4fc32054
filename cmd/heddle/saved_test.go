package main

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// savedCommand writes a saved launch:
//
//	saved OUT KERNEL GRID BLOCK ITEM...
//
// Items are buffers, in the order of their numbers, and parameters, in their order:
//
//	buffer:NAME:SIZE[:HEX]   a buffer with the first bytes; zeros follow
//	u32:N  u64:N             a number
//	ptr:NUMBER+BYTES         a pointer into a buffer
func savedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: saved OUT KERNEL GRID BLOCK ITEM...")
	}
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 0, 64)
		ts.Check(err)
		return n
	}
	dim := func(s string) event.Dim3 {
		d, err := launch.ParseDim(s)
		ts.Check(err)
		return d
	}
	s := &launch.Saved{Kernel: args[1], Demangled: args[1], Grid: dim(args[2]), Block: dim(args[3]),
		Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
	for _, item := range args[4:] {
		kind, rest, _ := strings.Cut(item, ":")
		parts := strings.Split(rest, ":")
		for kind != "u32" && len(s.Params)%8 != 0 && kind != "buffer" {
			s.Params = append(s.Params, 0)
		}
		switch kind {
		case "buffer":
			b := launch.SavedBuffer{Name: parts[0], Size: number(parts[1])}
			if len(parts) > 2 {
				data, err := hex.DecodeString(parts[2])
				ts.Check(err)
				b.Data = data
			}
			s.Buffers = append(s.Buffers, b)
		case "u32":
			s.Params = binary.LittleEndian.AppendUint32(s.Params, uint32(number(rest)))
		case "u64":
			s.Params = binary.LittleEndian.AppendUint64(s.Params, number(rest))
		case "ptr":
			n, at, _ := strings.Cut(rest, "+")
			s.Pointers = append(s.Pointers, launch.SavedPointer{Offset: uint64(len(s.Params)),
				Buffer: int(number(n)), At: number(at)})
			s.Params = append(s.Params, make([]byte, 8)...)
		default:
			ts.Fatalf("item %q", item)
		}
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(s.Write(f))
	ts.Check(f.Close())
}
