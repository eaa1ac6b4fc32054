//go:build unix

package lower

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// command returns a command that is killed with its children when ctx ends: a compiler may be a
// wrapper script, or a driver that starts the compiler as another process.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}
