package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// one is a model in which every part but the workers is free.
func one(kernels, workers int, times ...time.Duration) *Model {
	return &Model{Kernels: kernels, PerFile: 1, Changed: kernels, Workers: workers, Cores: 1,
		InFlight: 1 << 30, Servers: 1, Times: times, InOrder: true}
}

// TestModel compares runs with times that follow from the definition.
func TestModel(t *testing.T) {
	const s = time.Second
	ten := one(10, 1, s)
	shared := one(10, 5, s)
	late := one(3, 1, s)
	late.Prepare = 5 * s // each action is done long before the next one is ready
	report := one(10, 10, s)
	report.Report = 2 * s // after the first second
	flight := one(10, 10, s)
	flight.InFlight = 2
	server := one(10, 10, s)
	server.Queue = 3 * s
	compiled := one(8, 8, s)
	compiled.PerFile, compiled.Compile = 4, 6*s // two files
	few := one(100, 1, s)
	few.Changed, few.Look = 7, s/100
	overhead := one(4, 2, s)
	overhead.Overhead = s
	uneven := one(3, 2, 3*s, s, s) // 3 on one, 1 + 1 on the other
	for name, c := range map[string]struct {
		m    *Model
		want time.Duration
		most string
	}{
		"one worker": {ten, 10 * s, "workers"}, "five workers": {shared, 2 * s, "workers"},
		"client": {late, 16 * s, "client"}, "report": {report, 21 * s, "report"},
		"in flight": {flight, 5 * s, "workers"}, "server": {server, 31 * s, "server"},
		"compile": {compiled, 13 * s, "client"}, "overhead": {overhead, 4 * s, "workers"},
		"uneven": {uneven, 3 * s, "workers"},
	} {
		r := c.m.Run()
		if r.Time != c.want || r.bottleneck() != c.most {
			t.Errorf("%s: %v, bottleneck %s; want %v, %s", name, r.Time, r.bottleneck(), c.want, c.most)
		}
	}
	if r := few.Run(); r.Workers != 7*s {
		t.Errorf("7 of 100 kernels changed: the worker is busy for %v", r.Workers)
	}
}

// TestTables: docs/scale.md has the tables that the program prints.
func TestTables(t *testing.T) {
	var out bytes.Buffer
	if err := tables(&out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "\n\n")
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/scale.md does not have\n%s", out.String())
	}
}

// TestReadLogs reads what bb_worker logs.
func TestReadLogs(t *testing.T) {
	const log = `2026/11/30 04:14:55 Action: blobs/sha256/action/cb-162/ with timeout 30m0s
2026/11/30 04:14:55 ExecuteResponse: {"result":{"executionMetadata":{"workerStartTimestamp":"2026-11-30T04:14:55.5Z","workerCompletedTimestamp":"2026-11-30T04:14:55.75Z"}}}
2026/11/30 04:14:56 ExecuteResponse: {"result":{"executionMetadata":{"workerStartTimestamp":"2026-11-30T04:14:56Z","workerCompletedTimestamp":"2026-11-30T04:14:57.5Z"}}}
`
	times, first, last, err := readLogs(strings.NewReader(log))
	if err != nil || len(times) != 2 || times[0] != 250*time.Millisecond || last.Sub(first) != 2*time.Second {
		t.Errorf("%v from %v to %v, %v", times, first, last, err)
	}
	if _, _, _, err := readLogs(strings.NewReader("nothing\n")); err == nil {
		t.Error("a log without actions is accepted")
	}
	for _, bad := range []string{"x", "-1", "0"} {
		if _, err := readTimes("1\n" + bad); err == nil {
			t.Errorf("%q is accepted as a time", bad)
		}
	}
}
