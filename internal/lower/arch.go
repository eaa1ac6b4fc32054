package lower

import (
	"bytes"
	"fmt"
	"strings"
)

// Architectures that are newer than the compiler. A kernel for one that clang does not know is
// compiled for the newest one before it that clang knows, with the macros of its own, and the PTX
// names its own. LLVM has no instruction that only the newer architecture has; in the source these
// are inline assembly, which LLVM does not read.

// architecture is what the PTX for an architecture needs.
type architecture struct {
	clang int // first major version of clang that knows it; 0: none of those that heddle has seen
	ptx   int // version of PTX that it needs, 86 for 8.6
}

// newArchs are the architectures that some supported clang does not know, without those of a family
// or of one GPU (suffix f or a).
var newArchs = map[int]architecture{
	87: {16, 74}, 88: {0, 90}, 89: {16, 78}, 90: {16, 78}, 100: {20, 86}, 101: {20, 86},
	103: {0, 88}, 110: {0, 90}, 120: {20, 87}, 121: {0, 88},
}

// known reports whether the clang of a major version knows an architecture of newArchs.
func known(arch string, major int) bool {
	since := newArchs[archNumber(arch)].clang
	switch {
	case arch == "sm_90a":
		since = 18
	case strings.HasSuffix(arch, "f"):
		return false
	}
	return since > 0 && major >= since
}

// compiledArch returns the architecture that the clang of a major version compiles for in place of
// one: that one itself unless clang lacks it.
func compiledArch(arch string, major int) string {
	n := archNumber(arch)
	if _, ok := newArchs[n]; !ok || known(arch, major) {
		return arch // if there is no such architecture, clang says so
	}
	best := 86
	for m, a := range newArchs {
		if m <= n && m > best && a.clang > 0 && major >= a.clang {
			best = m
		}
	}
	return fmt.Sprintf("sm_%d", best)
}

// archMacros returns the definitions that nvcc makes for an architecture and clang does not.
func archMacros(arch string, major int) []string {
	var args []string
	n := archNumber(arch)
	if compiledArch(arch, major) != arch {
		args = append(args, "-Wno-builtin-macro-redefined", "-U__CUDA_ARCH__",
			fmt.Sprintf("-D__CUDA_ARCH__=%d0", n))
		if strings.HasSuffix(arch, "a") {
			args = append(args, fmt.Sprintf("-D__CUDA_ARCH_FEAT_SM%d_ALL=1", n))
		}
	}
	switch {
	case strings.HasSuffix(arch, "a"):
		args = append(args, fmt.Sprintf("-D__CUDA_ARCH_SPECIFIC__=%d0", n))
		fallthrough
	case strings.HasSuffix(arch, "f"):
		args = append(args, fmt.Sprintf("-D__CUDA_ARCH_FAMILY_SPECIFIC__=%d0", n))
	}
	return args
}

// cutlassMacros returns what CUTLASS defines for nvcc, and for clang does not, which it takes for a
// compiler without newer architectures and without __grid_constant__. Code for the device is where
// __CUDA_ARCH__ is defined.
func cutlassMacros(arch string, device bool) []string {
	args := []string{"-DCUTLASS_GRID_CONSTANT=__grid_constant__"}
	n := archNumber(arch)
	if n < 100 {
		return args
	}
	name := fmt.Sprintf("-DCUTLASS_ARCH_MMA_SM%d", n)
	args = append(args, name+"_SUPPORTED=1", name+"F_SUPPORTED=1")
	if !device {
		return args
	}
	args = append(args, name+"_ENABLED=1")
	switch {
	case strings.HasSuffix(arch, "a"):
		args = append(args, name+"A_ENABLED=1", name+"F_ENABLED=1")
	case strings.HasSuffix(arch, "f"):
		args = append(args, name+"F_ENABLED=1")
	}
	return args
}

// retarget makes PTX name the architecture that it was compiled for, and the version of PTX that
// this one needs.
func retarget(text []byte, arch string, major int) []byte {
	compiled := compiledArch(arch, major)
	if compiled == arch {
		return text
	}
	ptx := newArchs[archNumber(arch)].ptx
	if strings.HasSuffix(arch, "f") {
		ptx = max(ptx, 88)
	} else if arch == "sm_90a" {
		ptx = 80
	}
	text = bytes.Replace(text, []byte("\n.target "+compiled), []byte("\n.target "+arch), 1)
	at := bytes.Index(text, []byte(".version "))
	if at < 0 {
		return text
	}
	var x, y int
	if n, _ := fmt.Sscanf(string(text[at:min(at+20, len(text))]), ".version %d.%d", &x, &y); n < 2 ||
		10*x+y >= ptx {
		return text
	}
	return bytes.Replace(text, fmt.Appendf(nil, ".version %d.%d", x, y),
		fmt.Appendf(nil, ".version %d.%d", ptx/10, ptx%10), 1)
}
