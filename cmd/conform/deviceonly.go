package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/lower"
)

// GPUVerify compiles a file for the device alone, so that every variable of the file is device
// memory. nvcc and clang know a host beside the device, and refuse a kernel that uses a variable
// without __device__. Such a file is compiled again by way of another one, which includes it with
// that attribute on all its variables; a variable that is __shared__ or __constant__ stays so.

// deviceOnly is the text of that other file, with the path of the original one.
const deviceOnly = `#pragma clang attribute push(__attribute__((device)), apply_to = variable(is_global))
#include %q
#pragma clang attribute pop
`

// usesHostVariable reports whether clang refused a file because a kernel uses a variable of the
// host.
func usesHostVariable(err error) bool {
	var ce *lower.CompileError
	return errors.As(err, &ce) && strings.Contains(ce.Output, "reference to __host__ variable")
}

// moveVariables replaces the file of a job by one that puts its variables on the device. It is in
// the scratch directory of the job, which the worker removes.
func (j *Job) moveVariables() error {
	original, err := filepath.Abs(j.File)
	if err != nil {
		return err
	}
	if j.scratch, err = os.MkdirTemp("", "conform"); err != nil {
		return err
	}
	j.File = filepath.Join(j.scratch, "kernel.cu")
	return os.WriteFile(j.File, fmt.Appendf(nil, deviceOnly, original), 0o600)
}
