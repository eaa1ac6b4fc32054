package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"heddle/internal/emu"
)

// A model of launches on more cores than the machine has. What each block takes is measured on one
// core: the worker that executes it and checks its shared memory, the application of its log, and
// the detector of the launch. Then the batches of emu/parallel.go are replayed for other numbers of
// workers. The model leaves out what cores share (caches and memory), and the time that goroutines
// take to wake up.

// modelCores are the numbers of cores of the table, each of which has a worker.
var modelCores = []int{1, 2, 4, 8, 16, 32, 64}

// workersTable prints the speed of launches with detection on a number of cores against one core
// that executes blocks directly, as heddle run -j 1 does.
func workersTable(only string, n int) error {
	tw := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "launch\tone core\tworker\tapply\tdetector")
	for _, c := range modelCores {
		fmt.Fprintf(tw, "\t%d", c)
	}
	fmt.Fprintln(tw)
	for _, l := range benchLaunches() {
		if !strings.Contains(l.name, only) {
			continue
		}
		one, blocks, err := l.measure(n)
		if err != nil {
			return err
		}
		var sum emu.BlockTime
		for _, b := range blocks {
			sum.Ahead += b.Ahead
			sum.Apply += b.Apply
			sum.Send += b.Send
		}
		fmt.Fprintf(tw, "%s\t%.0f ms\t%.2f\t%.2f\t%.2f", l.name, 1000*one.Seconds(),
			sum.Ahead.Seconds()/one.Seconds(), sum.Apply.Seconds()/one.Seconds(),
			sum.Send.Seconds()/one.Seconds())
		for _, c := range modelCores {
			fmt.Fprintf(tw, "\t%.1f", one.Seconds()/replay(blocks, c).Seconds())
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// measure returns what a launch takes on one core, and what each of its blocks takes in parts: of n
// runs the fastest.
func (l benchLaunch) measure(n int) (one time.Duration, blocks []emu.BlockTime, err error) {
	m, cfg, err := machine(l.name, l.grid, l.block, l.args)
	if err != nil {
		return 0, nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a block is not interrupted then
	for range n {
		start := time.Now()
		if _, err := execute(m, cfg, true, 1); err != nil {
			return 0, nil, err
		}
		if t := time.Since(start); one == 0 || t < one {
			one = t
		}
		var now []emu.BlockTime
		opt := emu.Options{Workers: 2, Times: func(b emu.BlockTime) { now = append(now, b) }}
		if _, err := executeWith(m, cfg, true, opt); err != nil {
			return 0, nil, err
		}
		if blocks == nil {
			blocks = now
		}
		if len(now) != int(cfg.Geometry.Blocks()) || len(blocks) != len(now) {
			return 0, nil, fmt.Errorf("%s: %d of %d blocks were executed ahead", l.name, len(now),
				cfg.Geometry.Blocks())
		}
		for i, b := range now {
			blocks[i].Ahead = min(blocks[i].Ahead, b.Ahead)
			blocks[i].Apply = min(blocks[i].Apply, b.Apply)
			blocks[i].Send = min(blocks[i].Send, b.Send)
		}
	}
	return one, blocks, nil
}

// replay returns what a launch takes on a number of cores. The detector of the launch has a core as
// long as it is busy, beside the workers of the next batch.
func replay(blocks []emu.BlockTime, cores int) (total time.Duration) {
	send := time.Duration(0) // of the batch before
	size := emu.FirstBatch(cores)
	for len(blocks) > 0 {
		n := min(size, len(blocks))
		batch := blocks[:n]
		blocks = blocks[n:]
		free := make([]time.Duration, cores)
		free[0] = send
		var steps, log uint64
		apply, next := time.Duration(0), time.Duration(0)
		for _, b := range batch {
			first := 0
			for i, t := range free {
				if t < free[first] {
					first = i
				}
			}
			free[first] += b.Ahead
			apply += b.Apply
			next += b.Send
			steps += b.Steps
			log += b.Log
		}
		last := time.Duration(0)
		for _, t := range free {
			last = max(last, t)
		}
		total += last + apply
		send = next
		size = emu.NextBatch(cores, size, n, steps, log)
	}
	return total + send
}
