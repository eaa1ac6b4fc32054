//go:build !unix

package lower

import (
	"context"
	"os/exec"
	"time"
)

// command prepares a process that dies with ctx.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	return cmd
}
