package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binary is the output of make build. The command is timed as it is shipped, not as `go run` builds
// it.
const binary = "bin/heddle"

// endToEnd times the command as a user runs it: a process that checks one small file. Cold means an
// empty compile cache, so that the compiler dominates; otherwise the cache has the file. A .ptx
// file needs no compiler at all. The figure is in seconds.
func endToEnd(cold bool, file string) func() (float64, string, error) {
	return func() (float64, string, error) {
		dir, err := os.MkdirTemp("", "heddle-bench")
		if err != nil {
			return 0, "", err
		}
		defer os.RemoveAll(dir)
		path, err := extract(dir, "reduce")
		if err != nil {
			return 0, "", err
		}
		env := append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		if filepath.Ext(file) == ".ptx" {
			low, err := lowered("reduce")
			if err != nil {
				return 0, "", err
			}
			path = filepath.Join(dir, file)
			if err := os.WriteFile(path, low.PTX, 0o644); err != nil {
				return 0, "", err
			}
		}
		check := func() error { return runCheck(env, "--grid", "4", path) }
		if !cold {
			if err := check(); err != nil {
				return 0, "", err
			}
		}
		s, err := seconds(check)
		return s, "", err
	}
}

// runCheck runs heddle check. Any exit code other than 0 is an error: the kernels are correct, so
// another code would mean that something else is timed.
func runCheck(env []string, args ...string) error {
	cmd := exec.Command(binary, append([]string{"check"}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("exit %d: %s", exit.ExitCode(), out)
	}
	return err
}
