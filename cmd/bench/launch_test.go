package main

import (
	"testing"

	"heddle/internal/event"
)

// run measures the launch on some cores, with or without race detection.
func (l *benchLaunch) run(b *testing.B, detect bool, workers int) {
	m, cfg, err := machine(l.name, l.grid, l.block, l.args)
	if err != nil {
		b.Fatal(err)
	}
	var n uint64
	start := cpuSeconds()
	for b.Loop() {
		res, err := execute(m, cfg, detect, workers)
		if err != nil {
			b.Fatal(err)
		}
		n += res.LaneInstrs
	}
	b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mlane/s")
	b.ReportMetric(1000*(cpuSeconds().own-start.own)/float64(b.N), "CPU-ms/op")
}

// BenchmarkLaunch runs the launches of the table, for profiles (go test -bench Launch -cpuprofile).
func BenchmarkLaunch(b *testing.B) {
	line := event.Dim3{X: 256, Y: 1, Z: 1}
	for _, l := range append(benchLaunches(),
		benchLaunch{"histogram", event.Dim3{X: 64, Y: 1, Z: 1}, line,
			[]string{"n=1048576", "in=random"}},
		benchLaunch{"vecadd", event.Dim3{X: 4096, Y: 1, Z: 1}, line, nil}) {
		b.Run(l.name, func(b *testing.B) { l.run(b, false, 1) })
		b.Run(l.name+"Det", func(b *testing.B) { l.run(b, true, 1) })
		b.Run(l.name+"Det2", func(b *testing.B) { l.run(b, true, 2) })
	}
}
