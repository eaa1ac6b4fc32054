package exec

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"

	"heddle/internal/host"
)

// ForeignError says why a program that heddle has not built cannot be run.
type ForeignError struct {
	Path   string
	Reason string // and what to do about it
}

// Error implements error.
func (e *ForeignError) Error() string { return e.Path + " " + e.Reason }

// Environment returns what a command needs in its environment so that programs which heddle has not
// built find heddle's runtime: those that need libcudart.so, and the command itself if it contains
// NVIDIA's runtime. runtime returns a directory with the runtime as a shared library. The command
// may also be anything else, such as make, which needs no runtime.
func Environment(ctx context.Context, command string,
	runtime func(context.Context) (string, error)) ([]string, error) {
	path, err := osexec.LookPath(command)
	if err != nil {
		return nil, nil // Run says so
	}
	linkage := host.LinkageOf(path)
	switch linkage {
	case host.Own:
		return nil, nil
	case host.Stripped:
		return nil, &ForeignError{path, "contains NVIDIA's CUDA runtime without the names of its " +
			"functions, so that heddle cannot take its place; link it with nvcc --cudart shared, or " +
			"without -s and strip, or build it with heddle nvcc"}
	case host.Newer:
		return nil, &ForeignError{path, "needs a version of libcudart.so that heddle cannot replace " +
			"(it knows those of CUDA 11 and 12); build it with heddle nvcc"}
	}
	dir, err := runtime(ctx)
	if err != nil {
		if linkage == host.NoCUDA {
			return nil, nil
		}
		return nil, err
	}
	env := []string{before("LD_LIBRARY_PATH", dir)}
	if linkage == host.Static {
		env = append(env, before("LD_PRELOAD", filepath.Join(dir, "libcudart.so.12")))
	}
	return env, nil
}

// before puts an entry before those of a variable that is a list.
func before(name, entry string) string {
	if old := os.Getenv(name); old != "" {
		entry += ":" + old
	}
	return name + "=" + entry
}

// Architecture returns the architecture of the first GPU of the machine, 90 for one of compute
// capability 9.0, as nvidia-smi of the driver says it; 0 if there is none, or no such program.
func Architecture(ctx context.Context) int {
	out, err := osexec.CommandContext(ctx, "nvidia-smi", "--query-gpu=compute_cap",
		"--format=csv,noheader").Output()
	if err != nil {
		return 0
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "%d.%d", &major, &minor); err != nil {
		return 0
	}
	return 10*major + minor
}
