// Command bench prints a table of performance figures: parser, emulator, detector, proofs, repairs,
// and heddle check end to end. It must run in the root of the repository. It measures the machine
// that it runs on and asserts nothing; figures of different machines cannot be compared.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"heddle/internal/heap"
)

// main selects one of five outputs: the table of measurements, the results of heddle fix or heddle
// sync for every kernel, the growth of the time of heddle sync, or launches on more cores.
func main() {
	heap.Grow() // as heddle does
	runs := flag.Int("n", 5, "number of runs of each measurement, whose median counts")
	only := flag.String("only", "", "only measurements whose name contains this text")
	sync := flag.Bool("sync", false,
		"print the results of heddle sync on the kernels of the repository; -only selects by file name")
	fix := flag.Bool("fix", false,
		"print the results and times of heddle fix on the broken kernels of the repository; -only "+
			"selects by FILE:KERNEL")
	growth := flag.Bool("growth", false,
		"print how the time of heddle sync grows with the statements of a kernel; -only selects by shape")
	workers := flag.Bool("workers", false,
		"print how fast launches with detection are on up to 64 cores, by a model; -only selects by "+
			"name")
	flag.Parse()
	var err error
	switch { // the tables print one line for each kernel of the repository and take minutes
	case *fix:
		err = fixTable(*only, *runs)
	case *growth:
		err = growthTable(*only)
	case *sync:
		err = syncTable(*only)
	case *workers:
		err = workersTable(*only, *runs)
	default:
		err = run(*runs, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measurement is one line of the table. All figures of a line have one unit.
type measurement struct {
	name string
	unit string
	once measured
}

// measured runs the work once and returns the figure in the unit of the measurement, and a remark
// for the table.
type measured func() (figure float64, remark string, err error)

// run repeats each selected measurement n times and prints its line as soon as it is complete: a
// run of all of them takes minutes.
func run(n int, only string) error {
	dir, err := os.MkdirTemp("", "heddle-bench") // for what several measurements share
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "what\tmedian of %d\tbest\tworst\t\n", n)
	for _, m := range measurements(dir) {
		if only != "" && !contains(m.name, only) {
			continue
		}
		var figures []float64
		var remark string
		for range n {
			f, r, err := m.once()
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			figures, remark = append(figures, f), r
		}
		slices.Sort(figures)
		fmt.Fprintf(w, "%s\t%.4g %s\t%.4g\t%.4g\t%s\n", m.name, figures[len(figures)/2], m.unit,
			figures[0], figures[len(figures)-1], remark)
		w.Flush()
	}
	return nil
}

// seconds returns the wall time of f and its error.
func seconds(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return time.Since(start).Seconds(), err
}
