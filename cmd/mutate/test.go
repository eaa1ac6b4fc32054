package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"heddle/internal/testing/long"
	"heddle/internal/testing/mutate"
)

// A test that does not end for a mutant has failed. This is a tool for tests, so time may decide.
const (
	testTimes = 10               // times the duration without a mutant
	testMore  = 10 * time.Second // and this for a machine that does other work
)

// maxMemory bounds the memory of a test in bytes: mutants can allocate without end. It is checked
// each memoryTick, where the system has a /proc.
const (
	maxMemory  = 6 << 30
	memoryTick = 100 * time.Millisecond
)

// A testCase is one top-level test.
type testCase struct {
	bin     *testBinary
	name    string
	elapsed time.Duration // without a mutant, with the start of the program
	reaches map[int]bool  // mutants by number
}

// test runs every mutant against the tests that reach it, some at a time, and prints what became of
// each. The packages' own tests go first, then, unless own is set, one judge after the other, each
// for the mutants that are left: a judge without any is neither compiled nor run.
func (b *built) test(ctx context.Context, w io.Writer, workers int, own bool) (result, error) {
	r := result{name: b.group.name, mutants: len(b.mutants)}
	left, reached := make([]int, 0, len(b.mutants)), map[int]bool{}
	for i := range b.mutants {
		left = append(left, i+1)
	}
	bins, err := b.compile(ctx, b.own, "")
	for next := 0; err == nil; next++ {
		if left, err = b.judge(ctx, w, bins, left, reached, workers); err != nil {
			break
		}
		if own || len(left) == 0 || next == len(b.group.judges) {
			break
		}
		j := b.group.judges[next]
		fmt.Fprintf(w, "-- %d left for %s %s\n", len(left), j.pkg, j.run)
		var pkgs []*pkg
		if pkgs, err = list(ctx, []string{"./" + j.pkg}); err == nil {
			bins, err = b.compile(ctx, pkgs, j.run)
		}
	}
	if err != nil {
		return r, err
	}
	r.killed = r.mutants - len(left)
	for _, n := range left {
		what := survived
		if !reached[n] {
			what = notReached
			r.notReached++
		}
		r.survivors = append(r.survivors, b.mutants[n-1])
		fmt.Fprintf(w, "%-11s %s\n", what, b.mutants[n-1])
	}
	return r, nil
}

// judge runs mutants, which it has by number, against the tests of binaries, and returns those that
// survive. It marks those that a test reaches.
func (b *built) judge(ctx context.Context, w io.Writer, bins []*testBinary, mutants []int,
	reached map[int]bool, workers int) ([]int, error) {
	tests, err := b.cases(ctx, bins, workers)
	if err != nil {
		return nil, err
	}
	for _, t := range tests {
		maps.Copy(reached, t.reaches)
	}
	left := make([]bool, len(mutants))
	var mu sync.Mutex
	err = parallel(ctx, workers, len(mutants), func(worker, i int) error {
		by, err := b.kill(ctx, tests, mutants[i], worker)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if left[i] = by == nil; by != nil {
			fmt.Fprintf(w, "%-11s %s (%s)\n", killed, b.mutants[mutants[i]-1], by.name)
		}
		return nil
	})
	var survivors []int
	for i, n := range mutants {
		if left[i] {
			survivors = append(survivors, n)
		}
	}
	return survivors, err
}

// parallel calls do for 0 to n-1 on some goroutines, numbered from 0, until one fails.
func parallel(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := make(chan int)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range work {
				if err := do(worker, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case work <- i:
		case <-ctx.Done():
		}
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

// cases runs each test of binaries by itself without a mutant, and returns the tests, fastest
// first, with the mutants that they reach. All must pass.
func (b *built) cases(ctx context.Context, bins []*testBinary, workers int) ([]*testCase, error) {
	var all []*testCase
	for _, bin := range bins {
		names, err := bin.tests(ctx)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			all = append(all, &testCase{bin: bin, name: n, reaches: map[int]bool{}})
		}
	}
	err := parallel(ctx, workers, len(all), func(worker, i int) error {
		return b.record(ctx, all[i], worker, fmt.Sprintf("%s.reached%d", all[i].bin.path, i))
	})
	slices.SortStableFunc(all, func(a, b *testCase) int { return cmp.Compare(a.elapsed, b.elapsed) })
	return all, err
}

// tests lists the top-level tests of the binary that judge.
func (bin *testBinary) tests(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, bin.path, "-test.list", cmp.Or(bin.run, "."))
	cmd.Dir = bin.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w", bin.name, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if n := strings.TrimSpace(line); strings.HasPrefix(n, "Test") || strings.HasPrefix(n, "Fuzz") ||
			strings.HasPrefix(n, "Example") {
			names = append(names, n)
		}
	}
	return names, nil
}

// record runs a test without a mutant, and notes how long it takes and which mutants it reaches.
// The file is for the numbers of those.
func (b *built) record(ctx context.Context, t *testCase, worker int, file string) error {
	start := time.Now()
	pass, out, err := b.execute(ctx, t, worker, 10*time.Minute, mutate.ReachedEnv+"="+file)
	if err != nil {
		return err
	}
	if !pass {
		return fmt.Errorf("%s of %s fails without a mutant:\n%s", t.name, t.bin.name, out)
	}
	t.elapsed = time.Since(start)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, word := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		t.reaches[n] = true
	}
	return nil
}

// kill runs the tests that reach a mutant until one fails, and returns that one; nil if all pass.
func (b *built) kill(ctx context.Context, tests []*testCase, n, worker int) (*testCase, error) {
	for _, t := range tests {
		if !t.reaches[n] {
			continue
		}
		limit := testTimes*t.elapsed + testMore
		pass, _, err := b.execute(ctx, t, worker, limit, fmt.Sprintf("%s=%d", mutate.ActiveEnv, n))
		if err != nil || !pass {
			return t, err
		}
	}
	return nil, nil
}

// execute runs one test with a limit on its time, and returns whether it passes and its output. An
// error means that ctx ended or the test could not be started.
func (b *built) execute(ctx context.Context, t *testCase, worker int, limit time.Duration,
	env string) (bool, []byte, error) {
	cacheDir, err := b.cache(worker)
	if err != nil {
		return false, nil, err
	}
	args := append([]string{"-test.run", "^" + t.name + "$", "-test.failfast", "-test.timeout",
		limit.String()}, t.bin.flags...)
	cmd := exec.CommandContext(ctx, t.bin.path, args...)
	cmd.Dir = t.bin.dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cacheDir, "HEDDLE_LONG="+long.Tables, env)
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err = cmd.Start(); err == nil {
		ended := make(chan struct{})
		go limitMemory(cmd.Process, ended)
		err = cmd.Wait()
		close(ended)
	}
	if ctx.Err() != nil {
		return false, nil, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return false, nil, fmt.Errorf("%s: %w", t.bin.path, err)
	}
	return err == nil, out.Bytes(), nil
}

// limitMemory kills a process that has more than maxMemory in use. An address space cannot be
// limited instead: tests reserve parts of it that they never use.
func limitMemory(p *os.Process, ended chan struct{}) {
	tick := time.NewTicker(memoryTick)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.Pid))
		if err != nil {
			return
		}
		fields := strings.Fields(string(text)) // in pages: all, resident, ...
		if len(fields) < 2 {
			return
		}
		if n, err := strconv.Atoi(fields[1]); err == nil && n*os.Getpagesize() > maxMemory {
			_ = p.Kill() // it may have ended by itself
			return
		}
	}
}

// cache returns a cache directory for the next test of a worker, with the compiled kernels of those
// before but without answers of solvers: a mutant must neither use nor leave any.
func (b *built) cache(worker int) (string, error) {
	dir := filepath.Join(filepath.Dir(b.dir), fmt.Sprintf("cache%d", worker))
	own := filepath.Join(dir, "heddle")
	if !exists(own) {
		if err := os.MkdirAll(own, 0o700); err != nil {
			return "", err
		}
		if err := linkCompiled(own); err != nil {
			return "", err
		}
	}
	answers, err := filepath.Glob(filepath.Join(own, "answers-*"))
	if err != nil {
		return "", err
	}
	for _, a := range answers {
		if err := os.RemoveAll(a); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// linkCompiled links what the user's cache has except for answers of solvers. Files of the cache
// never change.
func linkCompiled(own string) error {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil // the cache stays empty
	}
	entries, err := os.ReadDir(filepath.Join(base, "heddle"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "answers-") {
			continue
		}
		from := filepath.Join(base, "heddle", e.Name())
		if err := os.Symlink(from, filepath.Join(own, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
