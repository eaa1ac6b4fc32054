// Command scale says what heddle check costs on many kernels and many workers. It replays measured
// times of actions against a model of the client, the server and the workers, and prints the tables
// of docs/scale.md:
//
//	go run ./cmd/scale
//
// With -replay FILE it reads the times of one run of Buildbarn from the logs of its workers and
// predicts how long that run took, which says how good the model is.
package main

import (
	"bufio"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// measuredTimes are the CPU times of the command of actions, in milliseconds, one a line: those of
// the kernels of this repository that docs/scale.md names.
//
//go:embed times.txt
var measuredTimes string

func main() {
	replay := flag.String("replay", "", "predict the run whose worker logs are in `FILE`")
	workers := flag.Int("workers", 2, "workers of the run of -replay")
	cores := flag.Int("cores", 2, "cores of the client of -replay")
	flag.Parse()
	var err error
	if *replay != "" {
		err = replayed(os.Stdout, *replay, *workers, *cores)
	} else {
		err = tables(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// readTimes reads the lines of a file of times.
func readTimes(text string) ([]time.Duration, error) {
	var out []time.Duration
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		ms, err := strconv.ParseFloat(line, 64)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("%q is not a time in milliseconds", line)
		}
		out = append(out, time.Duration(ms*float64(time.Millisecond)))
	}
	return out, nil
}

// The project of the tables.
const (
	kernels  = 100_000
	perFile  = 4   // kernels of a source file
	changed  = 100 // kernels that a commit changes
	inHeader = 5_000
	cores    = 16 // of the client
)

// tables prints the tables of docs/scale.md.
func tables(w io.Writer) error {
	times, err := readTimes(measuredTimes)
	if err != nil {
		return err
	}
	total := time.Duration(0)
	for _, t := range times {
		total += t
	}
	mean := total / time.Duration(len(times))
	fmt.Fprintf(w, "%d measured actions, mean %v\n\n", len(times), mean.Round(100*time.Microsecond))
	scenarios := []struct {
		name string
		run  func(*Model)
	}{
		{"cold", func(m *Model) { m.Changed, m.Compile = kernels, measured.compile }},
		{"cold, compiled before", func(m *Model) { m.Changed = kernels }},
		{fmt.Sprintf("commit, %d kernels changed", changed), func(m *Model) {
			m.Changed, m.Compile = changed, measured.compile
		}},
		{fmt.Sprintf("commit, a header of %d kernels", inHeader), func(m *Model) {
			m.Changed, m.Compile = inHeader, measured.compile
		}},
		{fmt.Sprintf("the same commit, only its %d kernels", changed), func(m *Model) {
			m.Kernels, m.Changed, m.Compile = changed, changed, measured.compile
		}},
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| what\t| 1 worker\t| bottleneck\t| 64 workers\t| bottleneck\t| 4,096 workers\t| bottleneck\t|")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, s := range scenarios {
		fmt.Fprintf(table, "| %s\t", s.name)
		for _, workers := range []int{1, 64, 4096} {
			m := measured.model(times, workers)
			s.run(m)
			r := m.Run()
			fmt.Fprintf(table, "| %s\t| %s\t", rounded(r.Time), r.bottleneck())
		}
		fmt.Fprintln(table, "|")
	}
	return table.Flush()
}

// rounded writes a time with two digits or so.
func rounded(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// replayed predicts a run from the logs of its workers.
func replayed(w io.Writer, path string, workers, cores int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	times, first, last, err := readLogs(f)
	if err != nil {
		return err
	}
	m := measured.model(times, workers)
	m.Kernels, m.Changed, m.Cores, m.InOrder = len(times), len(times), cores, true
	// The times of a log are those of a loaded machine, with the fetching of inputs.
	m.Overhead = 0
	r := m.Run()
	fmt.Fprintf(w, "%d actions on %d workers: measured %v from the first to the last, predicted %v, "+
		"bottleneck %s\n", len(times), workers, last.Sub(first).Round(100*time.Millisecond),
		r.Time.Round(100*time.Millisecond), r.bottleneck())
	return nil
}

// readLogs returns the times of the actions in logs of bb_worker, from the moment in which a worker
// has an action to that in which it is done with it, and the first and last moment.
func readLogs(r io.Reader) (times []time.Duration, first, last time.Time, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		start, ok1 := stamp(in.Text(), "workerStartTimestamp")
		end, ok2 := stamp(in.Text(), "workerCompletedTimestamp")
		if !ok1 || !ok2 {
			continue
		}
		times = append(times, end.Sub(start))
		if first.IsZero() || start.Before(first) {
			first = start
		}
		if end.After(last) {
			last = end
		}
	}
	if len(times) == 0 && in.Err() == nil {
		return nil, first, last, fmt.Errorf("no ExecuteResponse in the log")
	}
	return times, first, last, in.Err()
}

// stamp returns the time of a field of an ExecuteResponse.
func stamp(line, field string) (time.Time, bool) {
	_, rest, ok := strings.Cut(line, `"`+field+`":"`)
	if !ok {
		return time.Time{}, false
	}
	text, _, _ := strings.Cut(rest, `"`)
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}
