package lower

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// heddle needs three programs of one LLVM: clang, opt and llc. Distributions install them as
// clang-19, opt-19 and llc-19, side by side with other versions. Version 19 is preferred because
// its exact output is tested; any version from 14 on gives the same accesses.

const (
	minClang       = 14 // the first with the options and builtins that the embedded headers need
	preferredClang = 19 // the one whose exact output the tests expect
	newestClang    = 40 // the largest N for which clang-N is searched on PATH
)

// MissingToolError reports that no usable compiler was found, or no opt or llc next to it. The
// command exits with 2.
type MissingToolError struct {
	Tool   string // "clang", "opt", "llc" or "nvcc"
	Reason string // what was searched for and where
}

// Error returns one line that names the package to install.
func (e *MissingToolError) Error() string {
	if e.Tool == "nvcc" {
		return e.Reason + "; install the CUDA toolkit, or omit --compiler nvcc: heddle's default, " +
			"clang, needs no CUDA"
	}
	return fmt.Sprintf("%s; install it with: %s", e.Reason, installHint())
}

// installHint returns the command that installs LLVM.
func installHint() string {
	if runtime.GOOS == "darwin" {
		return "brew install llvm (then put $(brew --prefix llvm)/bin on PATH)"
	}
	return fmt.Sprintf("apt-get install clang-%d llvm-%d (Debian, Ubuntu; any version from %d on "+
		"works)", preferredClang, preferredClang, minClang)
}

// toolchain is a clang with the opt and llc of the same LLVM.
type toolchain struct {
	Clang, Opt, Llc string // absolute paths
	Major           int    // version of LLVM
	Version         string // the first line of clang --version
	Stamp           string // identity of the binaries: path, size and time of each
}

// findToolchain returns the compiler to use: the specified one, else clang-19, else the newest
// clang-N from 14 on, else clang if it is new enough.
func findToolchain(ctx context.Context, asked string, probes *probeCache) (*toolchain, error) {
	if asked != "" && asked != "clang" {
		path, err := exec.LookPath(asked)
		if err != nil {
			return nil, &MissingToolError{"clang", fmt.Sprintf("compiler %s not found", asked)}
		}
		return probe(ctx, path, probes)
	}
	var first error
	for _, name := range clangNames() {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		tc, err := probe(ctx, path, probes)
		if err == nil {
			return tc, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	return nil, &MissingToolError{"clang",
		fmt.Sprintf("no clang (version %d or later) on PATH, which heddle needs to compile .cu and .cl "+
			"files", minClang)}
}

// clangNames returns the names to search for, best first.
func clangNames() []string {
	names := []string{"clang-" + strconv.Itoa(preferredClang)}
	for n := newestClang; n >= minClang; n-- {
		if n != preferredClang {
			names = append(names, "clang-"+strconv.Itoa(n))
		}
	}
	return append(names, "clang")
}

// probe determines the version of the clang at path and finds its opt and llc.
func probe(ctx context.Context, path string, probes *probeCache) (*toolchain, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	stamp, err := fileStamp(path)
	if err != nil {
		return nil, err
	}
	version, ok := namedVersion(path), true
	if version == "" {
		version, ok = probes.get(stamp)
	}
	if !ok {
		if version, err = clangVersion(ctx, path); err != nil {
			return nil, err
		}
		probes.put(stamp, version)
	}
	tc := &toolchain{Clang: path, Version: version, Major: majorOf(version)}
	switch {
	case tc.Major == 0:
		return nil, &MissingToolError{"clang",
			fmt.Sprintf("%s is not clang: --version prints %q", path, clip(version, 60))}
	case strings.HasPrefix(version, "Apple"):
		return nil, &MissingToolError{"clang",
			fmt.Sprintf("%s is Apple's clang, which has no NVPTX back end", path)}
	case tc.Major < minClang:
		return nil, &MissingToolError{"clang",
			fmt.Sprintf("%s has version %d; heddle needs %d or later", path, tc.Major, minClang)}
	}
	stamps := []string{stamp}
	for _, t := range []struct {
		name string
		to   *string
	}{{"opt", &tc.Opt}, {"llc", &tc.Llc}} {
		p, s := findBeside(path, t.name, tc.Major)
		if p == "" {
			return nil, &MissingToolError{t.name,
				fmt.Sprintf("%s needs %[2]s of the same LLVM, but %[2]s-%[3]d is neither in its directory "+
					"nor on PATH", path, t.name, tc.Major)}
		}
		*t.to = p
		stamps = append(stamps, s)
	}
	tc.Stamp = strings.Join(stamps, "\n")
	return tc, nil
}

// versionedRE matches the name of a clang that is installed under its version.
var versionedRE = lazyregexp.New(`^clang-(\d+)$`)

// namedVersion returns the version of a clang that is installed under its version (clang-19), in
// the form that clang prints it; "" for others. Running clang --version takes half as long as a
// compilation.
func namedVersion(path string) string {
	m := versionedRE.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return ""
	}
	return "clang version " + m[1] + ".x"
}

// findBeside finds opt or llc of the given major version: opt-19 next to clang, opt in the
// directory that clang's symbolic link leads to (which contains a single LLVM), or opt-19 on PATH.
// It returns "" if there is none.
func findBeside(clang, tool string, major int) (path, stamp string) {
	versioned := tool + "-" + strconv.Itoa(major)
	var candidates []string
	candidates = append(candidates, filepath.Join(filepath.Dir(clang), versioned))
	if real, err := filepath.EvalSymlinks(clang); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(real), tool),
			filepath.Join(filepath.Dir(real), versioned))
	}
	if p, err := exec.LookPath(versioned); err == nil {
		candidates = append(candidates, p)
	}
	for _, c := range candidates {
		if s, err := fileStamp(c); err == nil {
			return c, s
		}
	}
	return "", ""
}

// fileStamp identifies a binary without reading it: by path, size and modification time. It fails
// if the file does not exist or is not executable. An update of the compiler changes its stamp, and
// so all keys of the cache.
func fileStamp(path string) (string, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if fi.IsDir() || fi.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%s: not executable", path)
	}
	return fmt.Sprintf("%s %d %d", path, fi.Size(), fi.ModTime().UnixNano()), nil
}

// clangVersion returns the first line of clang --version.
func clangVersion(ctx context.Context, path string) (string, error) {
	out, err := command(ctx, path, "--version").Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", &MissingToolError{"clang", fmt.Sprintf("%s --version: %v", path, err)}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), nil
}

var versionRE = lazyregexp.New(`clang version (\d+)\.`)

// majorOf returns the major version in that line, 0 if it is not of clang.
func majorOf(version string) int {
	m := versionRE.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// clip truncates s to n bytes for a message.
func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}
