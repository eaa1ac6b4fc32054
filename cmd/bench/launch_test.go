package main

import (
	"testing"

	"heddle/internal/event"
)

// benchLaunch is a launch of an embedded kernel.
type benchLaunch struct {
	name        string
	grid, block event.Dim3
	args        []string
}

// run measures the launch on one core, with or without race detection.
func (l *benchLaunch) run(b *testing.B, detect bool) {
	m, cfg, err := machine(l.name, l.grid, l.block, l.args)
	if err != nil {
		b.Fatal(err)
	}
	var n uint64
	for b.Loop() {
		res, err := execute(m, cfg, detect, 1)
		if err != nil {
			b.Fatal(err)
		}
		n += res.LaneInstrs
	}
	b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mlane/s")
}

// BenchmarkLaunch runs the launches of the table, for profiles (go test -bench Launch -cpuprofile).
func BenchmarkLaunch(b *testing.B) {
	square, line := event.Dim3{X: 16, Y: 16, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}
	tall, many := event.Dim3{X: 32, Y: 8, Z: 1}, event.Dim3{X: 4096, Y: 1, Z: 1}
	for _, detect := range []bool{false, true} {
		suffix := map[bool]string{false: "", true: "Det"}[detect]
		for _, l := range []benchLaunch{
			{"matmul", square, square, []string{"n=256"}},
			{"transpose", event.Dim3{X: 32, Y: 32, Z: 1}, tall, []string{"n=1024"}},
			{"histogram", event.Dim3{X: 64, Y: 1, Z: 1}, line, []string{"n=1048576", "in=random"}},
			{"vecadd", many, line, nil},
			{"reduce", many, line, nil},
		} {
			b.Run(l.name+suffix, func(b *testing.B) { l.run(b, detect) })
		}
	}
}
