package lower

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The runtime as a shared library, for programs that nvcc has built and linked with libcudart.so.
// NVIDIA's libraries give each function a version, which is the name of the library. Ours defines
// these versions and gives its functions none, which the dynamic linker accepts for any: one file
// serves programs of all of them, under several names, so that it is loaded once.

// sharedNames are the names of the libraries that the runtime replaces; the first one is a file.
var sharedNames = []string{"libcudart.so.12", "libcudart.so.11.0", "libcuda.so.1",
	"libnvrtc.so.11.2", "libnvrtc.so.12"}

// SharedRuntime returns a directory with the runtime as libcudart.so.12 and under the names of
// other versions and of the driver's library. It is compiled once for each compiler and version of
// heddle, if there is a cache.
func (b *Builder) SharedRuntime(ctx context.Context) (string, error) {
	return b.kept("cudart", func(dir string) error {
		var versions []byte
		for i, name := range sharedNames {
			versions = fmt.Appendf(versions, "%s { };\n", name)
			if i > 0 {
				if err := os.Symlink(sharedNames[0], filepath.Join(dir, name)); err != nil {
					return err
				}
			}
		}
		script := filepath.Join(b.tmp, "versions")
		if err := os.WriteFile(script, versions, 0o600); err != nil {
			return err
		}
		object := filepath.Join(b.tmp, "shared.o")
		if err := b.compileRuntime(ctx, object, "-DHEDDLE_SHARED"); err != nil {
			return err
		}
		out := filepath.Join(dir, sharedNames[0])
		return b.link(ctx, []string{"-shared", "-Wl,--version-script=" + script, "-Wl,-soname," +
			sharedNames[0], "-o", out, object}, out)
	})
}

// keptName returns the name in the cache of something that is compiled from the embedded headers:
// another one for each compiler and version of heddle.
func (b *Builder) keptName(kind string) string {
	return filepath.Join(b.dir, kind+"-"+headerHash()+"-"+hashOf([]byte(b.tc.Stamp))[:16])
}

// kept returns a directory that lasts, if there is a cache. Where it does not exist yet, fill makes
// its files in one with another name, so that no other process sees it incomplete.
func (b *Builder) kept(kind string, fill func(dir string) error) (string, error) {
	dir := b.keptName(kind)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp, err := os.MkdirTemp(b.dir, kind+"-*.tmp")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr != nil { // another process has made it meanwhile
			return "", err
		}
	}
	return dir, nil
}

// LinkDynamic links objects to a program that loads libcudart.so.12, as nvcc does with --cudart
// shared: heddle's runtime, or what LD_LIBRARY_PATH has in its place.
func (b *Builder) LinkDynamic(ctx context.Context, inputs, args []string, out string) error {
	dir, err := b.SharedRuntime(ctx)
	if err != nil {
		return err
	}
	library := []string{filepath.Join(dir, sharedNames[0]), "-Wl,--enable-new-dtags,-rpath," + dir}
	return b.link(ctx, slices.Concat([]string{"-rdynamic", "-o", out}, inputs, args, library), out)
}
