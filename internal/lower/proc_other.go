//go:build !unix

package lower

import (
	"context"
	"os/exec"
	"time"
)

// command returns a command that is killed when ctx ends.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	return cmd
}
