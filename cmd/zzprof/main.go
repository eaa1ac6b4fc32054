package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
)

func main() {
	f, _ := os.Create("/tmp/cpu.prof")
	pprof.StartCPUProfile(f)
	defer pprof.StopCPUProfile()
	var files, inc []string
	for _, a := range os.Args[1:] {
		if strings.HasPrefix(a, "-I") {
			inc = append(inc, a[2:])
		} else {
			files = append(files, a)
		}
	}
	sum, err := check.Files(context.Background(), check.Options{Options: driver.Options{Workers: 1, Lower: lower.Options{Includes: inc}, Files: source.NewSet(),
		Decisions: func(d driver.Decisions) {
			fmt.Println(d.Kernel, d.Time)
			for _, s := range d.Steps {
				fmt.Printf("   %v %s: %s %v\n", s.Engine, s.Why, s.Outcome, s.Time)
			}
		}}}, files, func(d diag.Diagnostic) {})
	if err != nil {
		fmt.Println(err)
	}
	for _, v := range sum.Verdicts {
		fmt.Println(v.Kind, v.Kernel, v.Reason)
	}
}
