// Command bench prints the table of figures that the project is held to: parser, emulator, detector, and
// heddle check end to end. It measures on the machine that it runs on, and asserts nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	runs := flag.Int("n", 5, "runs of each measurement; the median is printed")
	only := flag.String("only", "", "run only the measurements whose name contains this")
	sync := flag.Bool("sync", false, "print what heddle sync does to our own kernels, those whose file name contains -only")
	fix := flag.Bool("fix", false, "print what heddle fix does to our own broken kernels, those whose name contains -only, and how long it takes")
	flag.Parse()
	if *fix {
		if err := fixTable(*only); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *sync {
		if err := syncTable(*only); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measurement is one line of the table.
type measurement struct {
	name string
	unit string
	// once runs the work once and returns the figure in unit, and a remark for the table.
	once func() (figure float64, remark string, err error)
}

func run(n int, only string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "what\tmedian of %d\tbest\tworst\t\n", n)
	for _, m := range measurements() {
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
		fmt.Fprintf(w, "%s\t%.4g %s\t%.4g\t%.4g\t%s\n", m.name, figures[len(figures)/2], m.unit, figures[0], figures[len(figures)-1], remark)
		w.Flush()
	}
	return nil
}

// seconds times f.
func seconds(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return time.Since(start).Seconds(), err
}
