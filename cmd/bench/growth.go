package main

import (
	"fmt"
	"os"
	"path/filepath"

	"heddle/internal/engine/placement"
	"heddle/internal/testing/longkernel"
)

// growthTable prints how the time of heddle sync grows with the statements of a kernel that lacks
// all its barriers: the CPU time of heddle and of the compilers, the calls of the oracle and the
// barriers.
func growthTable(only string) error {
	dir, err := os.MkdirTemp("", "heddle-growth")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const row = "%-8s %10v %8v %10v %8v %9v  %v\n"
	fmt.Printf(row, "shape", "statements", "CPU s", "compilers", "calls", "barriers", "verdict")
	for _, shape := range longkernel.Shapes {
		if only != "" && only != shape.Name {
			continue
		}
		for _, n := range []int{10, 30, 100, 300, 1000} {
			path := filepath.Join(dir, fmt.Sprintf("%s%d.cu", shape.Name, n))
			if err := os.WriteFile(path, []byte(shape.Text(n)), 0o666); err != nil {
				return err
			}
			kernels, cpu, err := synchronized(path, "", placement.Options{})
			if err != nil {
				return err
			}
			k := &kernels[0]
			verdict := k.Verdict.Kind.String()
			if k.Status == placement.NotChecked {
				verdict = k.Stuck[0]
			}
			fmt.Printf(row, shape.Name, n, fmt.Sprintf("%.2f", cpu.own), fmt.Sprintf("%.2f", cpu.compilers),
				k.Calls, standing(k), verdict)
		}
	}
	return nil
}
