package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// manyFiles is how many files of one kernel heddle check examines here.
const manyFiles = 1000

// manyMeasurements time heddle check on a directory of files: for the first time, and after an edit
// of one of them. They share the directory, which the first of them that runs fills.
func manyMeasurements(dir string) []measurement {
	cold := sync.OnceValues(func() (*manyKernels, error) {
		k := &manyKernels{dir: dir}
		return k, k.begin()
	})
	first := func() (float64, string, error) {
		k, err := cold()
		return k.first, "measured once, with the headers prepared", err
	}
	again := func() (float64, string, error) {
		k, err := cold()
		if err != nil {
			return 0, "", err
		}
		k.edits++
		if err := k.write(manyFiles/2, k.edits); err != nil {
			return 0, "", err
		}
		s, err := seconds(k.check)
		return s, "", err
	}
	name := fmt.Sprintf("heddle check on %d files, ", manyFiles)
	return []measurement{{name + "for the first time", "s", first},
		{name + "again after one edit", "s", again}}
}

// manyKernels is a directory of files with a cache.
type manyKernels struct {
	dir   string
	first float64 // seconds of the first run
	edits int
}

// begin makes the files and examines them.
func (k *manyKernels) begin() error {
	if err := os.Mkdir(filepath.Join(k.dir, "src"), 0o755); err != nil {
		return err
	}
	if err := k.write(0, 0); err != nil {
		return err
	}
	if err := k.check(); err != nil { // prepares the headers, as the first run on a machine does
		return err
	}
	for i := range manyFiles {
		if err := k.write(i, 0); err != nil {
			return err
		}
	}
	var err error
	k.first, err = seconds(k.check)
	return err
}

// write writes a file of one kernel; n is a number in its text.
func (k *manyKernels) write(i, n int) error {
	text := fmt.Sprintf(`__global__ void k%d(int *out, const int *in, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] + %d : 0;
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x ^ 1] * %d;
}
`, i, n, i+1)
	return os.WriteFile(filepath.Join(k.dir, "src", fmt.Sprintf("k%04d.cu", i)), []byte(text), 0o644)
}

// check examines the directory.
func (k *manyKernels) check() error {
	return runCheck(append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(k.dir, "cache")),
		filepath.Join(k.dir, "src"))
}
