//go:build !unix

package proc

import "os/exec"

// detach does nothing: process groups are specific to Unix.
func detach(*exec.Cmd) {}

// killTree ends the process itself. A program that a wrapper script started may survive it.
func killTree(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
