package check

import (
	"context"
	"crypto/sha256"

	"heddle/internal/check/task"
	"heddle/internal/driver"
)

// Kept keeps the results of examinations for later runs of the same program. A result is taken if
// everything is equal on which the examination of the kernel depends: its task says what that is.
type Kept interface {
	// Get returns the result with a key; nil: there is none.
	Get(key [sha256.Size]byte) []byte
	// Put keeps a result. That it fails is no reason for a message: the next run examines the kernel
	// again.
	Put(key [sha256.Size]byte, result []byte)
}

// examineKept takes the result of an earlier run, or examines a kernel here and keeps the result.
// It returns false if neither is possible: nothing has been done then.
func (c *checker) examineKept(ctx context.Context, job *driver.Job) bool {
	// Which findings of a baseline are known depends on those before.
	if c.opt.Kept == nil || c.opt.Mode != Check || c.opt.Known != nil {
		return false
	}
	a, err := task.New(job, taskOptions(&c.opt), c.prover.Process())
	if err != nil {
		return false
	}
	key := a.Key()
	if b := c.opt.Kept.Get(key); b != nil {
		if effects, err := a.Read(b, job); err == nil {
			for i := range effects.Steps {
				s := &effects.Steps[i]
				s.Elsewhere, s.Earlier = false, s.Elsewhere
			}
			job.Replay(effects)
			return true
		}
	}
	effects := job.Recorded(func(job *driver.Job) { c.examine(ctx, job) })
	if ctx.Err() != nil {
		return true // what it has is not the result
	}
	if b, err := a.Result(effects, job); err == nil {
		c.opt.Kept.Put(key, b)
	}
	return true
}
