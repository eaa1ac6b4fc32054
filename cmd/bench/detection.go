package main

import (
	"fmt"

	"heddle/internal/event"
)

// benchLaunch is a launch of an embedded kernel.
type benchLaunch struct {
	name        string
	grid, block event.Dim3
	args        []string
}

// benchLaunches returns launches of half a second and less: regular kernels, with shared memory and
// without, in which most accesses of a warp are rows.
func benchLaunches() []benchLaunch {
	square, line := event.Dim3{X: 16, Y: 16, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}
	tall, many := event.Dim3{X: 32, Y: 8, Z: 1}, event.Dim3{X: 4096, Y: 1, Z: 1}
	tiles := event.Dim3{X: 32, Y: 32, Z: 1}
	return []benchLaunch{
		{"matmul", square, square, []string{"n=256"}},
		{"matmul_plain", square, square, []string{"n=256"}},
		{"stencil", many, line, nil},
		{"stencil_plain", event.Dim3{X: 32, Y: 128, Z: 1}, tall, []string{"n=1024"}},
		{"reduce", many, line, nil},
		{"transpose", tiles, tall, []string{"n=1024"}},
		{"transpose_plain", tiles, tall, []string{"n=1024"}},
	}
}

// detections has a measurement of what detection costs for each of the launches.
func detections() (ms []measurement) {
	for _, l := range benchLaunches() {
		ms = append(ms, measurement{"emu: " + l.name + ", CPU time with detection against without", "x",
			l.cost},
			measurement{"emu: " + l.name + ", detection, 2 workers against 1", "x",
				scaling(l.name, l.grid, l.block, true, l.args...)})
	}
	return ms
}

// cost returns the CPU time of a launch with detection divided by that without. One run follows the
// other, so that other work of the machine falls on both.
func (l benchLaunch) cost() (float64, string, error) {
	m, cfg, err := machine(l.name, l.grid, l.block, l.args)
	if err != nil {
		return 0, "", err
	}
	var took [2]float64
	for i, detect := range []bool{false, true} {
		start := cpuSeconds()
		if _, err := execute(m, cfg, detect, 1); err != nil {
			return 0, "", err
		}
		took[i] = cpuSeconds().own - start.own
	}
	return took[1] / took[0], fmt.Sprintf("%.0f ms without", 1000*took[0]), nil
}
