package source

import (
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// CUDAName reports whether a file is CUDA C++ by its name: .cu, or .hip for HIP, which heddle reads
// through the same headers.
func CUDAName(name string) bool {
	return slices.Contains([]string{".cu", ".hip"}, strings.ToLower(filepath.Ext(name)))
}

// PythonName reports whether a file is Python by its name: the source of kernels that Triton and
// CuTe DSL compile.
func PythonName(name string) bool { return strings.EqualFold(filepath.Ext(name), ".py") }

// versionRE matches the inline namespaces by which CUB, Thrust and libcu++ tell their versions
// apart, such as CUB_200500_SM_800_NS and, from CCCL 3 on, _V_300600_SM_800; libcu++ has __4.
var versionRE = lazyregexp.New(`\b(?:(?:CUB|THRUST)_[0-9]+_\w+|_V_[0-9]+(?:_SM[0-9_]+)?|__[0-9]+)::`)

// Unversioned returns a demangled name without inline namespaces of versions, as users write it.
func Unversioned(name string) string {
	if !strings.Contains(name, "::CUB_") && !strings.Contains(name, "::THRUST_") &&
		!strings.Contains(name, "::_V_") && !strings.Contains(name, "::__") {
		return name
	}
	return versionRE.ReplaceAllString(name, "")
}
