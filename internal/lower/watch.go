package lower

import (
	"context"
	"path/filepath"
)

// watchArgs are clang's options for the library that watches programs on a GPU. Only the functions
// that it takes from CUDA are visible to the program.
var watchArgs = []string{"-shared", "-fvisibility=hidden", "-fno-omit-frame-pointer",
	"-fasynchronous-unwind-tables", "-fno-optimize-sibling-calls"}

// WatchLibrary returns the library that heddle loads into a program which runs on a GPU
// (headers/gpu). It is compiled once for each compiler and version of heddle, if there is a cache.
func (b *Builder) WatchLibrary(ctx context.Context) (path string, err error) {
	const name = "libheddle_watch.so"
	dir, err := b.kept("watch", func(dir string) error {
		return b.compileWatch(ctx, filepath.Join(dir, name), "-w")
	})
	return filepath.Join(dir, name), err
}

// compileWatch compiles the library to a file.
func (b *Builder) compileWatch(ctx context.Context, out string, args ...string) error {
	args = append(args, watchArgs...)
	return b.compileC(ctx, filepath.Join(b.root, "gpu", "watch.c"), out,
		append(args, "-Wl,-soname,libheddle_watch.so", "-ldl", "-lpthread")...)
}
