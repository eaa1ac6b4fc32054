package host

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// GPU is a model of GPU as programs see it through cudaGetDeviceProperties. Nothing about the
// execution of kernels depends on it but the room for memory and which launches are too large.
type GPU struct {
	Name         string
	Memory       uint64 // bytes
	L2           uint64 // bytes
	SharedBlock  uint64 // shared memory of a block without opt-in, bytes
	SharedOptin  uint64 // with opt-in
	SharedSM     uint64 // of a multiprocessor
	Major, Minor uint32 // compute capability
	SMs          uint32 // multiprocessors
	Clock        uint32 // kHz
	MemoryClock  uint32 // kHz
	BusBits      uint32 // width of the memory bus
	Threads      uint32 // of a multiprocessor
	Blocks       uint32 // of a multiprocessor
	alias        string // on the command line
}

// The models, from NVIDIA's data sheets and the CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability".
var gpus = []GPU{
	{"NVIDIA A100-SXM4-80GB (heddle)", 80 << 30, 40 << 20, 48 << 10, 163 << 10, 164 << 10, 8, 0, 108,
		1410000, 1593000, 5120, 2048, 32, "a100"},
	{"NVIDIA H100 80GB HBM3 (heddle)", 80 << 30, 50 << 20, 48 << 10, 227 << 10, 228 << 10, 9, 0, 132,
		1980000, 2619000, 5120, 2048, 32, "h100"},
	{"NVIDIA L4 (heddle)", 23 << 30, 48 << 20, 48 << 10, 99 << 10, 100 << 10, 8, 9, 58,
		2040000, 6251000, 192, 1536, 24, "l4"},
	{"NVIDIA V100-SXM2-16GB (heddle)", 16 << 30, 6 << 20, 48 << 10, 96 << 10, 96 << 10, 7, 0, 80,
		1530000, 877000, 4096, 2048, 32, "v100"},
}

// GPUNames returns what FindGPU accepts; the first is the default.
func GPUNames() []string {
	var out []string
	for _, g := range gpus {
		out = append(out, g.alias)
	}
	return out
}

// FindGPU returns the model of a name such as "h100".
func FindGPU(name string) (*GPU, error) {
	i := slices.IndexFunc(gpus, func(g GPU) bool { return g.alias == strings.ToLower(name) })
	if i < 0 {
		return nil, fmt.Errorf("no GPU is called %q; expected one of %s", name,
			strings.Join(GPUNames(), ", "))
	}
	return &gpus[i], nil
}

// encode returns the model as struct heddle_gpu of protocol.h.
func (g *GPU) encode() []byte {
	var b bytes.Buffer
	var name [64]byte
	copy(name[:63], g.Name)
	b.Write(name[:])
	for _, n := range []uint64{g.Memory, g.L2, g.SharedBlock, g.SharedOptin, g.SharedSM} {
		_ = binary.Write(&b, binary.LittleEndian, n)
	}
	for _, n := range []uint32{g.Major, g.Minor, g.SMs, g.Clock, g.MemoryClock, g.BusBits, g.Threads,
		g.Blocks} {
		_ = binary.Write(&b, binary.LittleEndian, n)
	}
	return b.Bytes()
}
