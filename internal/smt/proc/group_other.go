//go:build !unix

package proc

import "os/exec"

func detach(*exec.Cmd) {}

func killTree(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
