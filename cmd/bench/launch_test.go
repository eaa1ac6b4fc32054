package main

import (
	"testing"

	"heddle/internal/event"
)

// benchOne measures a launch of an embedded kernel on one core.
func benchOne(b *testing.B, name string, grid, block event.Dim3, detect bool, args ...string) {
	m, cfg, err := machine(name, grid, block, args)
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

// BenchmarkLaunch has the launches of the table, for profiles (go test -bench Launch -cpuprofile).
func BenchmarkLaunch(b *testing.B) {
	square := event.Dim3{X: 16, Y: 16, Z: 1}
	for _, det := range []bool{false, true} {
		s := map[bool]string{false: "", true: "Det"}[det]
		b.Run("matmul"+s, func(b *testing.B) { benchOne(b, "matmul", square, square, det, "n=256") })
		b.Run("transpose"+s, func(b *testing.B) {
			benchOne(b, "transpose", event.Dim3{X: 32, Y: 32, Z: 1}, event.Dim3{X: 32, Y: 8, Z: 1}, det, "n=1024")
		})
		b.Run("histogram"+s, func(b *testing.B) {
			benchOne(b, "histogram", event.Dim3{X: 64, Y: 1, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}, det, "n=1048576", "in=random")
		})
		b.Run("vecadd"+s, func(b *testing.B) {
			benchOne(b, "vecadd", event.Dim3{X: 4096, Y: 1, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}, det)
		})
		b.Run("reduce"+s, func(b *testing.B) {
			benchOne(b, "reduce", event.Dim3{X: 4096, Y: 1, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}, det)
		})
	}
}
