package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	return []measurement{
		{fmt.Sprintf("heddle check on %d files, for the first time", manyFiles), "s", func() (float64, string, error) {
			k, err := cold()
			if err != nil {
				return 0, "", err
			}
			return k.first, "measured once, with the headers prepared", nil
		}},
		{fmt.Sprintf("heddle check on %d files, again after one edit", manyFiles), "s", func() (float64, string, error) {
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
		}},
	}
}

// manyKernels is a directory of files with a cache.
type manyKernels struct {
	dir   string
	first float64 // seconds of the first run
	edits int
}

// begin makes the files and examines them.
func (k *manyKernels) begin() (err error) {
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
	bin, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	cmd := exec.Command(bin, "check", ".")
	cmd.Dir = filepath.Join(k.dir, "src")
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(k.dir, "cache"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "verified") {
		return fmt.Errorf("heddle check: %v\n%s", err, out)
	}
	return nil
}
