package lower

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/internal/cache"
)

// formatVersion changes whenever the same input would give other output: it is part of every key. Changes
// to the embedded headers need none, as their hash is part of the key too; changes to the tables of OpenCL's
// built-in functions do.
const formatVersion = "8"

// A cache entry is named by the hash of all that is known before compiling: this package's version, the
// tools, the options, the input's name and content. What clang read besides stands in the entry with its
// hashes and is checked before use. A new file that would be found earlier on the include path than the one
// that was read is not noticed (as in ccache's direct mode).
type cacheEntry struct {
	Deps     []dependency
	Warnings []string
	Sum      string // sha256 of the PTX that follows
}

// dependency is a file that the compilation read.
type dependency struct {
	Path  string
	Size  int64
	MTime int64
	Hash  string
}

// resultCache is a directory of entries; the zero value caches nothing.
type resultCache struct{ dir string }

// cacheDir returns where to cache: the directory asked for, else heddle's under the user's cache directory.
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

// CacheDir returns the directory in which results are kept, for others who keep theirs there; empty if none are to be kept.
func CacheDir(opt Options) string {
	if opt.NoCache {
		return ""
	}
	dir, err := cacheDir(opt)
	if err != nil {
		return ""
	}
	return dir
}

// key hashes what a compilation depends on apart from the files that it includes.
func key(tc *toolchain, name string, content []byte, opt Options) string {
	cwd, _ := os.Getwd()
	h := sha256.New()
	put := func(ss ...string) {
		for _, s := range ss {
			fmt.Fprintf(h, "%d:%s", len(s), s)
		}
		h.Write([]byte{'\n'})
	}
	put(formatVersion, headerHash(), tc.Stamp, tc.Version, cwd, name)
	put(opt.Arch, opt.OptLevel, opt.Std, opt.CUDAPath)
	for _, list := range [][]string{opt.Includes, opt.Systems, opt.Defines, opt.Undefines, opt.Forced, opt.Args} {
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

func (c resultCache) path(key string) string { return filepath.Join(c.dir, "ptx-"+key) }

// get returns the entry of that key if it is whole and all it depends on is unchanged.
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
	return &e, ptx, true
}

// put stores an entry. A cache that cannot be written is no error: the next run compiles again.
func (c resultCache) put(key string, e cacheEntry, ptx []byte) {
	if c.dir == "" {
		return
	}
	e.Sum = hashOf(ptx)
	head, err := json.Marshal(e)
	if err != nil {
		return
	}
	if cache.Write(c.path(key), append(append(head, '\n'), ptx...)) == nil {
		cache.Prune(c.dir, "ptx-", maxEntries)
	}
}

// maxEntries bounds the number of results.
const maxEntries = 500

func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// newDependency records a file as it is now.
func newDependency(path string) (dependency, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return dependency{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return dependency{}, err
	}
	return dependency{path, fi.Size(), fi.ModTime().UnixNano(), hashOf(b)}, nil
}

// unchanged compares size and time first; a file that was touched or rewritten with the same content is
// told by its hash. A file of the same size and time counts as unchanged only where packages are
// installed: an editor or a test may write twice within the clock's grain.
func (d dependency) unchanged() bool {
	fi, err := os.Stat(d.Path)
	if err != nil || fi.Size() != d.Size {
		return false
	}
	if fi.ModTime().UnixNano() == d.MTime && isSystemPath(d.Path) {
		return true
	}
	b, err := os.ReadFile(d.Path)
	return err == nil && hashOf(b) == d.Hash
}

func isSystemPath(p string) bool {
	for _, dir := range []string{"/usr/", "/opt/", "/Library/", "/Applications/", "/nix/store/"} {
		if strings.HasPrefix(p, dir) {
			return true
		}
	}
	return false
}

// readDeps parses the make rule that clang -MD writes, leaving out what skip says.
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

// depPaths splits "x: a b\ c \<newline> d" into its prerequisites: blanks and # are escaped by a
// backslash, a dollar by doubling.
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

// probeCache remembers compiler versions by the stamps of their binaries, so that a warm run starts no
// process. Each stamp is a file of its own: no locking, no merging.
type probeCache struct{ dir string }

func (p *probeCache) path(stamp string) string {
	return filepath.Join(p.dir, "clang-"+hashOf([]byte(formatVersion + "\n" + stamp))[:24])
}

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

func (p *probeCache) put(stamp, version string) {
	if p.dir != "" {
		_ = cache.Write(p.path(stamp), []byte(stamp+"\n"+version+"\n")) // without it, the next run asks again
	}
}
