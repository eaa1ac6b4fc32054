package host

import (
	"debug/elf"
	"errors"
	"slices"
	"strings"
)

// Linkage says how a program reaches the CUDA runtime.
type Linkage uint8

// The linkages.
const (
	NoCUDA   Linkage = iota // it uses no CUDA, or is a script, or cannot be read
	Own                     // heddle has built it
	Shared                  // it needs libcudart.so or libcuda.so
	Static                  // it contains NVIDIA's runtime
	Stripped                // the same, without the names of its functions
	Newer                   // it needs a version of libcudart.so that heddle does not know
)

// LinkageOf examines a program.
func LinkageOf(path string) Linkage {
	f, err := elf.Open(path)
	if err != nil {
		return NoCUDA
	}
	defer f.Close()
	dynamic, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return NoCUDA
	}
	defines := func(list []elf.Symbol, name string) bool {
		return slices.ContainsFunc(list, func(s elf.Symbol) bool {
			return s.Name == name && s.Section != elf.SHN_UNDEF
		})
	}
	libraries, _ := f.ImportedLibraries()
	needs := func(l string) bool {
		return strings.HasPrefix(l, "libcudart.so") || strings.HasPrefix(l, "libcuda.so") ||
			strings.HasPrefix(l, "libnvrtc.so")
	}
	newer := func(l string) bool {
		return strings.HasPrefix(l, "libcudart.so.") && l != "libcudart.so.12" && l != "libcudart.so.11.0"
	}
	switch {
	case slices.ContainsFunc(libraries, newer):
		return Newer
	case defines(dynamic, "__heddle_cuda_block_size"):
		return Own
	case slices.ContainsFunc(libraries, needs):
		return Shared
	case f.Section(".nv_fatbin") == nil:
		return NoCUDA
	}
	all, _ := f.Symbols()
	if defines(all, "__cudaRegisterFatBinary") {
		return Static
	}
	return Stripped
}
