package main

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// Model is a run of heddle check --remote. The client reads files in order, on several cores, and
// asks for the action of each kernel as soon as it has it; the server looks it up, and queues what
// its cache lacks; workers take from the queue in order; and the client reports kernel after kernel.
//
// Left out: the network, whose bytes are few (3 KB a kernel), lost workers, and other users.
type Model struct {
	Kernels, PerFile int
	Changed          int // kernels that the cache lacks, spread evenly over the files
	Workers, Cores   int // Cores are those of the client
	InFlight         int // actions that the client has under way (--remote-jobs)

	Compile time.Duration // of a file with a changed kernel; 0: the client has its PTX
	Prepare time.Duration // from a kernel's PTX to its request, on one of the cores
	Ask     time.Duration // more, for a kernel that the cache lacks: uploads, and the execution
	Report  time.Duration // of a kernel, in turn on one core
	Look    time.Duration // of the server, for an action that the cache has
	Queue   time.Duration // of the server, for one that it lacks, in all its services
	Servers int           // cores of the server

	Times    []time.Duration // of commands, one of them for each action
	Overhead time.Duration   // of a worker for an action, besides the command
	InOrder  bool            // the actions have the times in their order, not a random one
}

// Result is what a run costs.
type Result struct {
	Time time.Duration
	// Busy is how long each part worked, divided by its number of units.
	Client, Report, Server, Workers time.Duration
}

// bottleneck is the part that works most of the time.
func (r *Result) bottleneck() string {
	name, most := "client", r.Client
	for _, p := range []struct {
		name string
		busy time.Duration
	}{{"report", r.Report}, {"server", r.Server}, {"workers", r.Workers}} {
		if p.busy > most {
			name, most = p.name, p.busy
		}
	}
	return name
}

// units are the times at which the units of one part are free, the earliest first.
type units []time.Duration

func (u units) Len() int           { return len(u) }
func (u units) Less(i, j int) bool { return u[i] < u[j] }
func (u units) Swap(i, j int)      { u[i], u[j] = u[j], u[i] }
func (u *units) Push(x any)        { *u = append(*u, x.(time.Duration)) }
func (u *units) Pop() any {
	last := (*u)[len(*u)-1]
	*u = (*u)[:len(*u)-1]
	return last
}

// use has the unit that is free first work for d, not before ready, and returns the end.
func (u units) use(ready, d time.Duration) time.Duration {
	u[0] = max(u[0], ready) + d
	end := u[0]
	heap.Fix(&u, 0)
	return end
}

// Run simulates the run.
func (m *Model) Run() Result {
	client, server, workers := make(units, m.Cores), make(units, m.Servers), make(units, m.Workers)
	var flight units
	var out Result
	random := rand.New(rand.NewPCG(1, 2))
	reported, ran := time.Duration(0), 0
	for k := 0; k < m.Kernels; k += m.PerFile {
		size := min(m.PerFile, m.Kernels-k)
		// Which kernels of the file changed: number k did if the count of changed ones grows there.
		isChanged := func(k int) bool {
			return (k+1)*m.Changed/m.Kernels > k*m.Changed/m.Kernels
		}
		work := time.Duration(size) * m.Prepare
		compile := m.Compile
		for i := range size {
			if isChanged(k + i) {
				work += m.Ask + compile
				compile = 0 // once for the file
			}
		}
		// The core waits while too many actions are under way.
		var slot time.Duration
		for len(flight) > 0 && len(flight)+size > m.InFlight {
			slot = heap.Pop(&flight).(time.Duration)
		}
		ready := client.use(slot, work)
		out.Client += work
		for i := range size {
			var done time.Duration
			if isChanged(k + i) {
				t := m.Times[ran%len(m.Times)]
				if !m.InOrder {
					t = m.Times[random.IntN(len(m.Times))]
				}
				ran++
				done = workers.use(server.use(ready, m.Queue), m.Overhead+t)
				out.Server += m.Queue
				out.Workers += m.Overhead + t
			} else {
				done = server.use(ready, m.Look)
				out.Server += m.Look
			}
			heap.Push(&flight, done)
			reported = max(reported, done) + m.Report
			out.Report += m.Report
		}
	}
	out.Time = reported
	out.Client /= time.Duration(m.Cores)
	out.Server /= time.Duration(m.Servers)
	out.Workers /= time.Duration(m.Workers)
	return out
}

// costs are CPU times of one kernel, or of one file for compile. docs/scale.md says how they were
// measured.
type costs struct{ compile, prepare, ask, report, look, queue, overhead time.Duration }

// measured are those of 2,000 kernels on two workers of Buildbarn. Runs that find all results use
// 0.86 ms of the client for each kernel and 0.17 ms of the storage. The two passes of the client
// parse the same text, so each has half. Runs that find none use 2.59 ms of the client, and in the
// server 4.27 ms of bb_storage and 2.63 ms of bb_scheduler; bb_worker and bb_runner use 7.0 ms.
var measured = costs{
	compile: 320 * time.Millisecond, // clang, for a file of the examples, with its prelude compiled
	prepare: 430 * time.Microsecond, report: 430 * time.Microsecond, ask: 1730 * time.Microsecond,
	look: 170 * time.Microsecond, queue: 6900 * time.Microsecond, overhead: 7000 * time.Microsecond,
}

// model returns the model of the tables for a number of workers.
func (c *costs) model(times []time.Duration, workers int) *Model {
	return &Model{
		Kernels: kernels, PerFile: perFile, Workers: workers, Cores: cores,
		InFlight: max(256, 2*workers), Prepare: c.prepare, Ask: c.ask, Report: c.report, Look: c.look,
		Queue: c.queue, Servers: cores, Times: times, Overhead: c.overhead,
	}
}
