package source

import (
	"path/filepath"
	"slices"
	"strings"
)

// CUDAName reports whether a file is CUDA C++ by its name: .cu, or .hip for HIP, which heddle reads
// through the same headers.
func CUDAName(name string) bool {
	return slices.Contains([]string{".cu", ".hip"}, strings.ToLower(filepath.Ext(name)))
}

// PythonName reports whether a file is Python by its name: the source of kernels that Triton and
// CuTe DSL compile.
func PythonName(name string) bool { return strings.EqualFold(filepath.Ext(name), ".py") }
