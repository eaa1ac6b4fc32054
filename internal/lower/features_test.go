package lower

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// featureKernelRE matches the definition of a kernel in the files of testdata/features.
var featureKernelRE = regexp.MustCompile(`(?m)^(__global__ void (?:__\w+__\([^()]*\) )?\w+\(|` +
	`K\(\w+,|(__)?kernel\b|__kernel __attribute__)`)

// TestFeatures compiles what CUDA and OpenCL users write, a kernel for each feature or group of
// functions: none may be left out, and no host code either.
func TestFeatures(t *testing.T) {
	names, err := filepath.Glob("testdata/features/*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			opt := Options{CacheDir: testCache}
			if strings.HasSuffix(name, ".cu") {
				opt.Arch = "sm_90"
			}
			if strings.Contains(name, "library20") {
				opt.Std = "c++20"
			}
			r, err := File(t.Context(), name, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range r.Omitted {
				t.Errorf("%s: %s", o.Demangled, o.Reason)
			}
			if all := strings.Join(r.Warnings, "\n"); strings.Contains(all, "heddle") {
				t.Errorf("warnings %s", all)
			}
			if want := len(featureKernelRE.FindAll(text, -1)); len(r.Kernels) < want {
				t.Errorf("%d kernels, the file defines %d", len(r.Kernels), want)
			}
		})
	}
}
