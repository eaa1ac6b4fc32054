package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Engine returns verdicts on kernels. Its methods run in a worker process.
type Engine interface {
	// Check runs one job. Failures are part of the result.
	Check(ctx context.Context, job *Job) *Result
}

// engines holds the engines by name, for --engine.
var engines = map[string]Engine{
	"run":     dynamic{},
	"verify":  static{},
	"check":   plain{},
	"compile": compileOnly{},
	"watch":   watched{},
}

// interrupted is the error of a job that was not run to its end, or not at all, because the user
// interrupted the program.
const interrupted = "interrupted"

// isolated runs a job in a worker process, another instance of this program, so that a crash, a
// hang or an out-of-memory condition is a result like any other.
func isolated(ctx context.Context, engine string, job *Job, limit time.Duration) *Result {
	// The limit covers the compiler, too.
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	res, cpu, err := spawn(ctx, engine, job)
	if err != nil {
		res = &Result{Error: err.Error()}
		switch ctx.Err() {
		case context.DeadlineExceeded:
			res.Error = fmt.Sprintf("no result within %v", limit)
		case context.Canceled:
			res.Error = interrupted
		}
	}
	res.Seconds, res.CPU = time.Since(start).Seconds(), cpu.Seconds()
	return res
}

// spawn starts a worker, sends it the job, and reads its result. An error means that the worker
// itself failed, which is always a bug of heddle. cpu is the time that it took on the processors.
func spawn(ctx context.Context, engine string, job *Job) (res *Result, cpu time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	in, err := json.Marshal(job)
	if err != nil {
		return nil, 0, err
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, self, workerFlag, engine)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	// A compiler that the worker started may keep its pipes open; do not wait for it.
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if s := cmd.ProcessState; s != nil {
		cpu = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return nil, cpu, fmt.Errorf("internal error: %w: %s", err, crashLine(errs.String()))
	}
	res = new(Result)
	if err := json.Unmarshal(out.Bytes(), res); err != nil {
		return nil, cpu, fmt.Errorf("internal error: cannot read the worker's result: %w", err)
	}
	return res, cpu, nil
}

// crashLine returns the line of a crash dump that describes the crash, else the first line. The
// stack would make each crash a cause of its own in the summary.
func crashLine(s string) string {
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return strings.TrimSpace(line)
		}
	}
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// workerFlag makes the program run one job. It is not for users.
const workerFlag = "-worker"

// worker reads a job from in, runs it, and writes the result to out. The engine must not print to
// standard output.
func worker(engine string, in io.Reader, out io.Writer) error {
	e, ok := engines[engine]
	if !ok {
		return errors.New("unknown engine " + engine)
	}
	var job Job
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	res := e.Check(context.Background(), &job)
	if job.scratch != "" {
		if err := os.RemoveAll(job.scratch); err != nil {
			return err
		}
	}
	return json.NewEncoder(out).Encode(res)
}
