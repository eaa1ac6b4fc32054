//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// detach gives the process a group of its own: the solver may be a wrapper script that starts the real one.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killTree(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
