package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/race"
	"heddle/internal/source"
)

//go:embed kernels/*.cu
var kernels embed.FS

// contains reports whether a name is selected by -only: a plain substring.
func contains(s, sub string) bool { return strings.Contains(s, sub) }

// measurements returns all lines of the table. Launches of the emulator have no races and run on
// one core unless the name says otherwise. Some share a directory.
func measurements(dir string) []measurement {
	square := event.Dim3{X: 16, Y: 16, Z: 1}
	return slices.Concat([]measurement{
		{"ptx: parse", "MB/s", parse},
		{"emu: matmul, no detection", "M lane-instr/s",
			speed("matmul", event.Dim3{X: 16, Y: 16, Z: 1}, square, false, "n=256")},
		{"emu: matmul, detection", "M lane-instr/s",
			speed("matmul", event.Dim3{X: 16, Y: 16, Z: 1}, square, true, "n=256")},
		{"emu: transpose, no detection", "M lane-instr/s",
			speed("transpose", event.Dim3{X: 32, Y: 32, Z: 1}, event.Dim3{X: 32, Y: 8, Z: 1}, false,
				"n=1024")},
		{"emu: transpose, detection", "M lane-instr/s",
			speed("transpose", event.Dim3{X: 32, Y: 32, Z: 1}, event.Dim3{X: 32, Y: 8, Z: 1}, true,
				"n=1024")},
		{"emu: histogram, no detection", "M lane-instr/s",
			speed("histogram", event.Dim3{X: 64, Y: 1, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}, false,
				"n=1048576", "in=random")},
		{"emu: histogram, detection", "M lane-instr/s",
			speed("histogram", event.Dim3{X: 64, Y: 1, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}, true,
				"n=1048576", "in=random")},
		{"emu: matmul, no detection, 2 workers against 1", "x",
			scaling("matmul", square, square, false, "n=256")},
		{"1,048,576 threads: vecadd, detection", "s", million("vecadd")},
		{"1,048,576 threads: reduce, detection", "s", million("reduce")},
		{"heddle verify, median kernel of the repository with compilation", "ms", proofs},
		{"heddle sync, cost by constants against barriers executed", "rho", costModel(false)},
		{"heddle sync, cost by a run against barriers executed", "rho", costModel(true)},
		{"heddle fix, slowest repair proper", "ms", repairs},
		{"heddle check reduce.cu, cold", "s", endToEnd(true, "reduce.cu")},
		{"heddle check reduce.cu, warm", "s", endToEnd(false, "reduce.cu")},
		{"heddle check reduce.ptx", "s", endToEnd(false, "reduce.ptx")},
	}, manyMeasurements(dir), detections(), traces())
}

// lowered compiles an embedded kernel. After the first time the result comes from the compile
// cache.
func lowered(name string) (*lower.Result, error) {
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := extract(dir, name)
	if err != nil {
		return nil, err
	}
	return lower.File(context.Background(), path, lower.Options{})
}

// extract writes an embedded kernel to dir and returns its path. The kernels are embedded so that a
// binary of bench can be used on another machine.
func extract(dir, name string) (string, error) {
	text, err := kernels.ReadFile("kernels/" + name + ".cu")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".cu")
	return path, os.WriteFile(path, text, 0o644)
}

// parse times the parser on 8 MiB of PTX: the PTX of the embedded kernels, repeated. The figure is
// in MB (10^6 bytes) per second.
func parse() (float64, string, error) {
	var text bytes.Buffer
	for _, name := range []string{"matmul", "transpose", "histogram", "reduce"} {
		low, err := lowered(name)
		if err != nil {
			return 0, "", err
		}
		text.Write(low.PTX)
	}
	// Repeated names are no error for the parser; irgen would reject them.
	big := bytes.Repeat(text.Bytes(), 1+8<<20/text.Len())
	f, err := source.NewSet().Add("bench.ptx", big)
	if err != nil {
		return 0, "", err
	}
	s, err := seconds(func() error {
		if _, errs := ptx.Parse(f); len(errs) > 0 {
			return errs[0]
		}
		return nil
	})
	return float64(len(big)) / 1e6 / s, fmt.Sprintf("%.1f MB of PTX, one core", float64(len(big))/1e6),
		err
}

// module builds the IR of an embedded kernel from its PTX, outside the timed part.
func module(name string) (*ir.Func, error) {
	low, err := lowered(name)
	if err != nil {
		return nil, err
	}
	set := source.NewSet()
	f, err := set.Add(low.Name, low.PTX)
	if err != nil {
		return nil, err
	}
	tree, errs := ptx.Parse(f)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	for _, k := range m.Funcs {
		if k.Kernel {
			return k, nil
		}
	}
	return nil, fmt.Errorf("%s has no kernel", name)
}

// machine prepares a launch of an embedded kernel, outside the timed part. args are arguments as
// --arg takes them.
func machine(
	name string, grid, block event.Dim3, args []string,
) (*emu.Machine, *launch.Config, error) {
	k, err := module(name)
	if err != nil {
		return nil, nil, err
	}
	req := launch.Request{Grid: &grid, Block: &block}
	for _, a := range args {
		spec, err := launch.ParseArg(a)
		if err != nil {
			return nil, nil, err
		}
		req.Args = append(req.Args, spec)
	}
	cfg, errs := launch.Resolve(k, req, nil)
	if len(errs) > 0 {
		return nil, nil, errs[0]
	}
	m, err := emu.New(k, cfg)
	return m, cfg, err
}

// execute runs a launch once on a number of cores (0: all). It fails if the launch does not
// complete or has a race, since the kernels are correct.
func execute(m *emu.Machine, cfg *launch.Config, detect bool, workers int) (*emu.Result, error) {
	return executeWith(m, cfg, detect, emu.Options{Workers: workers})
}

// executeWith is execute with options.
func executeWith(m *emu.Machine, cfg *launch.Config, detect bool, opt emu.Options) (*emu.Result,
	error) {
	var res *emu.Result
	var det *race.Detector
	objects := race.Objects{Shift: m.ObjectShift()}
	err := objects.Run(context.Background(), func(ctx context.Context) (err error) {
		var sink event.Sink
		if detect {
			det = race.New(race.Options{Geometry: cfg.Geometry, SharedBytes: uint32(m.SharedBytes()),
				Objects: &objects})
			sink = det
		}
		res, err = m.Run(ctx, opt, sink)
		return err
	})
	if err != nil {
		return nil, err
	}
	if res.Status != emu.Completed {
		return nil, fmt.Errorf("the run ended with status %d: %+v", res.Status, res.Stop)
	}
	if det != nil {
		if rep := det.Report(); len(rep.Races) > 0 {
			return nil, fmt.Errorf("unexpected race: %+v", rep.Races[0])
		}
	}
	return res, nil
}

// scaling returns the speedup of a launch on two cores over one. Blocks of these kernels are
// independent, so the ideal is 2.
func scaling(name string, grid, block event.Dim3, detect bool, args ...string) measured {
	return func() (float64, string, error) {
		m, cfg, err := machine(name, grid, block, args)
		if err != nil {
			return 0, "", err
		}
		var took [3]float64
		for _, workers := range []int{1, 2} {
			took[workers], err = seconds(func() error {
				_, err := execute(m, cfg, detect, workers)
				return err
			})
			if err != nil {
				return 0, "", err
			}
		}
		return took[1] / took[2], fmt.Sprintf("%d cores here", runtime.GOMAXPROCS(0)), nil
	}
}

// speed times a launch on one core in lane instructions: one instruction executed by a full warp
// counts 32.
func speed(name string, grid, block event.Dim3, detect bool, args ...string) measured {
	return func() (float64, string, error) {
		m, cfg, err := machine(name, grid, block, args)
		if err != nil {
			return 0, "", err
		}
		var res *emu.Result
		s, err := seconds(func() error {
			res, err = execute(m, cfg, detect, 1)
			return err
		})
		if err != nil {
			return 0, "", err
		}
		return float64(res.LaneInstrs) / 1e6 / s,
			fmt.Sprintf("%.0f M lane instructions", float64(res.LaneInstrs)/1e6), nil
	}
}

// million times a launch of 2^20 threads with detection on all cores; the remark has the memory
// that Go obtained from the system, the peak of the process, and all that was ever allocated.
func million(name string) func() (float64, string, error) {
	return func() (float64, string, error) {
		m, cfg, err := machine(name, event.Dim3{X: 4096, Y: 1, Z: 1}, event.Dim3{X: 256, Y: 1, Z: 1}, nil)
		if err != nil {
			return 0, "", err
		}
		// Garbage of earlier measurements must not count.
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := seconds(func() error {
			_, err := execute(m, cfg, true, 0)
			return err
		})
		runtime.ReadMemStats(&after)
		return s, fmt.Sprintf("%d MiB from the system, %d MiB allocated in total", after.Sys>>20,
			(after.TotalAlloc-before.TotalAlloc)>>20), err
	}
}
