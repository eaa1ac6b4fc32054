//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// detach starts the process in its own group, because the solver may be a wrapper script that
// starts the real one. killTree then ends both.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killTree ends the process group.
func killTree(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
