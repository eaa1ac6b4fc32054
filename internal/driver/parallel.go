package driver

import (
	"cmp"
	"runtime"
	"sync"

	"heddle/internal/crash"
	"heddle/internal/ir"
)

// Cores is how many goroutines a run may keep busy.
func (o *Options) Cores() int { return cmp.Or(o.Workers, runtime.GOMAXPROCS(0)) }

// each examines several kernels at a time. Reports appear in the order of the kernels, for any
// number of workers: a job with something to report waits for the jobs before it (Turn). So its
// effects on the state of the run (findings, verdicts, which comments and baseline entries are
// used) are those of a single worker. A job without findings waits only at its end.
//
// Cores that no kernel is left for emulate blocks. Findings are the same for any number of cores.
func (d *Driver) each(m *Module, kernels []*ir.Func, work func(*Job)) {
	cores := d.opt.Cores()
	n := max(min(cores, len(kernels)), 1)
	var first crash.First
	var wg sync.WaitGroup
	slots := make(chan struct{}, n)
	var before chan struct{}
	for _, k := range kernels {
		job := d.Job(m, k)
		job.sum, job.before, job.cores = &Summary{}, before, cores/n
		done := make(chan struct{})
		before = done
		slots <- struct{}{} // in kernel order: a job has its slot before any later one
		wg.Go(func() {
			defer func() {
				job.Turn()
				d.conclude(job.sum)
				close(done)
				<-slots
			}()
			defer first.Keep()
			job.logged(work)
		})
	}
	wg.Wait()
	first.Raise()
}
