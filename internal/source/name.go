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
