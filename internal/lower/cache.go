package lower

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/internal/cache"
	"heddle/internal/source"
)

// formatVersion is part of every key. It changes whenever the same input would give different
// output, for example because the tables of OpenCL's built-in functions change. Changes to the
// embedded headers do not need a new version, since their hash is part of the key too.
const formatVersion = "34"

// cacheEntry is the first line of a file of the cache; the PTX follows it. The name of the file is
// the hash of everything known before compiling: the version of this package, the tools, the
// options, and the name and content of the input. The other files that clang read are listed in the
// entry with their hashes, which are checked before use. As in ccache's direct mode, a new file
// that would be found earlier on the include path than the file that was read goes unnoticed.
type cacheEntry struct {
	Deps     []dependency
	Absent   []string // files with the names of missing headers: the entry is stale if one exists
	Warnings []string
	Omitted  []Omitted
	Sum      string // SHA-256 of the PTX, so that a truncated file is not used
}

// dependency is a file that the compilation read.
type dependency struct {
	Path  string
	Size  int64  // bytes
	MTime int64  // nanoseconds since 1970
	Hash  string // SHA-256
}

// resultCache is a directory of entries, one file each; the zero value caches nothing. Several
// processes may use it at the same time: files are written atomically and never changed.
type resultCache struct{ dir string }

// cacheDir returns the directory of the cache: the specified one, else heddle's below the user's
// cache directory.
func cacheDir(opt Options) (string, error) {
	if opt.CacheDir != "" {
		return opt.CacheDir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "heddle"), nil
}

// CacheDir returns the directory of the cache, which other packages may use for their own files;
// empty if nothing is to be cached.
func CacheDir(opt Options) string {
	if opt.NoCache {
		return ""
	}
	dir, err := cacheDir(opt)
	if err != nil || cache.Usable(dir) != nil {
		return ""
	}
	return dir
}

// CheckCache returns an error if other users could change the files of the cache, which is not used
// then. That there is no cache, as in containers without a home directory, is not an error.
func CheckCache(opt Options) error {
	if opt.NoCache {
		return nil
	}
	dir, err := cacheDir(opt)
	if err != nil {
		return nil
	}
	var unsafe *cache.UnsafeError
	if errors.As(cache.Usable(dir), &unsafe) {
		return unsafe
	}
	return nil
}

// key hashes everything that a compilation depends on except the files that it includes. The
// working directory is part of it, since relative paths are in the PTX; so are the copy of CCCL that
// the file is compiled with, and the environment variables that change clang's include path.
func key(tc *toolchain, name string, content []byte, opt Options, libs libraryUse) string {
	cwd, _ := os.Getwd()
	h := sha256.New()
	put := func(ss ...string) {
		for _, s := range ss {
			fmt.Fprintf(h, "%d:%s", len(s), s)
		}
		h.Write([]byte{'\n'})
	}
	put(formatVersion, headerHash(), tc.Stamp, tc.Version, cwd, name)
	put(opt.Arch, opt.OptLevel, opt.Std, strconv.Itoa(opt.AddressBits), opt.CUDAPath,
		strconv.FormatBool(opt.Strict), strconv.FormatBool(opt.Separate))
	put(libs.copy.list()...)
	put(strconv.FormatBool(libs.nvAtomic))
	put(strconv.FormatBool(libs.minMax), strconv.FormatBool(libs.ownTextures()))
	for _, list := range [][]string{opt.Includes, opt.Systems, opt.Defines, opt.Undefines, opt.Forced,
		opt.Args} {
		put(list...)
	}
	for _, m := range opt.Marked {
		put(m.Name, string(m.Content))
		for _, k := range m.Marks {
			put(strconv.Itoa(k.Offset), k.Text)
		}
	}
	for _, v := range []string{"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "SDKROOT"} {
		put(v, os.Getenv(v))
	}
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// path returns the file of an entry.
func (c resultCache) path(key string) string { return filepath.Join(c.dir, "ptx-"+key) }

// get returns the entry with that key if it is complete and none of its dependencies has changed.
func (c resultCache) get(key string) (*cacheEntry, []byte, bool) {
	if c.dir == "" {
		return nil, nil, false
	}
	b, err := os.ReadFile(c.path(key))
	if err != nil {
		return nil, nil, false
	}
	head, ptx, ok := bytes.Cut(b, []byte{'\n'})
	var e cacheEntry
	if !ok || json.Unmarshal(head, &e) != nil || e.Sum != hashOf(ptx) {
		return nil, nil, false
	}
	for _, d := range e.Deps {
		if !d.unchanged() {
			return nil, nil, false
		}
	}
	for _, path := range e.Absent {
		if _, err := os.Stat(path); err == nil {
			return nil, nil, false
		}
	}
	return &e, ptx, true
}

// put stores an entry. It ignores a cache that is not writable: the next run compiles again.
func (c resultCache) put(key string, e cacheEntry, ptx []byte) {
	if c.dir == "" {
		return
	}
	e.Sum = hashOf(ptx)
	head, err := json.Marshal(e)
	if err != nil {
		return
	}
	err = cache.Write(c.path(key), append(append(head, '\n'), ptx...))
	if err == nil && strings.HasPrefix(key, "0") { // one of 16: to list the directory takes a while
		cache.Prune(c.dir, "ptx-", maxEntries)
	}
}

// maxEntries bounds the number of results.
const maxEntries = 4000

// hashOf returns the SHA-256 of b in hexadecimal.
func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// newDependency records the current state of a file.
func newDependency(path string) (dependency, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return dependency{}, err
	}
	b, err := source.ReadRegular(path, maxInput)
	if err != nil {
		return dependency{}, err
	}
	return dependency{path, fi.Size(), fi.ModTime().UnixNano(), hashOf(b)}, nil
}

// unchanged reports whether the file has the same content as when it was recorded. It compares
// sizes, then hashes. Only below system directories does the same modification time suffice: an
// editor or a test may write a file twice within the resolution of the clock.
func (d dependency) unchanged() bool {
	fi, err := os.Stat(d.Path)
	if err != nil || fi.Size() != d.Size {
		return false
	}
	if fi.ModTime().UnixNano() == d.MTime && isSystemPath(d.Path) {
		return true
	}
	b, err := source.ReadRegular(d.Path, maxInput)
	return err == nil && hashOf(b) == d.Hash
}

// isSystemPath reports whether p is in a directory that only installers write to.
func isSystemPath(p string) bool {
	for _, dir := range []string{"/usr/", "/opt/", "/Library/", "/Applications/", "/nix/store/"} {
		if strings.HasPrefix(p, dir) {
			return true
		}
	}
	return false
}

// readDeps parses the make rule that clang -MD writes, without the files for which skip returns
// true.
func readDeps(file string, skip func(string) bool) ([]dependency, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var deps []dependency
	for _, p := range depPaths(string(b)) {
		if skip(p) {
			continue
		}
		d, err := newDependency(p)
		if err != nil {
			return nil, err
		}
		deps = append(deps, d)
	}
	return deps, nil
}

// depPaths splits "x: a b\ c \<newline> d" into its prerequisites. A backslash escapes a space or
// #, and $$ is a dollar sign.
func depPaths(s string) []string {
	_, s, _ = strings.Cut(s, ":")
	var out []string
	var cur strings.Builder
	flush := func() {
		if cur.Len() > 0 {
			out = append(out, cur.String())
			cur.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
			flush()
		case c == '\\' && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '#'):
			i++
			cur.WriteByte(s[i])
		case c == '$' && i+1 < len(s) && s[i+1] == '$':
			i++
			cur.WriteByte('$')
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			flush()
		default:
			cur.WriteByte(c)
		}
	}
	flush()
	return out
}

// probeCache stores compiler versions by the stamps of their binaries, so that a run with a filled
// cache starts no process. Each stamp has its own file, so no locking is necessary.
type probeCache struct{ dir string }

// path returns the file of a stamp.
func (p *probeCache) path(stamp string) string {
	return filepath.Join(p.dir, "clang-"+hashOf([]byte(formatVersion + "\n" + stamp))[:24])
}

// get returns the version of the compiler with that stamp.
func (p *probeCache) get(stamp string) (string, bool) {
	if p.dir == "" {
		return "", false
	}
	b, err := os.ReadFile(p.path(stamp))
	if err != nil {
		return "", false
	}
	stored, version, ok := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(version, "\n"), ok && stored == stamp && strings.HasSuffix(version, "\n")
}

// put stores a version.
func (p *probeCache) put(stamp, version string) {
	if p.dir != "" {
		// if this fails, the next run asks again
		_ = cache.Write(p.path(stamp), []byte(stamp+"\n"+version+"\n"))
	}
}
