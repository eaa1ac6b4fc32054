package lower

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// CUB, Thrust and libcu++ are NVIDIA's CUDA C++ Core Libraries (CCCL). heddle does not bring them,
// since a program needs the version that it was written for; it uses a copy on the machine, for the
// files that include headers of it. Such a file is compiled with the C++ library of the host instead
// of heddle's own headers for it (headers/std), as a program that is to run: these libraries need
// all of it.
//
// The directories of a copy come before heddle's own, some of whose headers have the same names
// (cuda/atomic). An include directory that has more than these libraries, such as that of a CUDA
// toolkit or /usr/include, must not: its cuda_runtime.h would replace heddle's. So clang sees the
// copy through an overlay of its file system, in which one directory has the libraries and nothing
// else. Names in diagnostics and in debug information are those of the copy.

// ccclNames are the directories of CCCL from which programs include.
var ccclNames = []string{"cub", "thrust", "cuda", "nv"}

// cccl is a copy of CCCL, or of a part of it.
type cccl struct {
	dirs map[string]string // paths of the directories that it has, by their names in ccclNames
}

// ccclKeys are headers of which one is in each copy.
var ccclKeys = []string{"cub/cub.cuh", "thrust/version.h"}

// findCCCL returns the copy at a directory: a checkout of CCCL, an include directory, or a CUDA
// toolkit. It returns nil if there is none.
func findCCCL(dir string) *cccl {
	for _, layout := range []map[string]string{
		{"cub": "cub", "thrust": "thrust", "cuda": "libcudacxx/include", "nv": "libcudacxx/include"},
		{"cub": ".", "thrust": ".", "cuda": ".", "nv": "."},
		{"cub": "cccl", "thrust": "cccl", "cuda": "cccl", "nv": "cccl"}, // CUDA 13
		{"cub": "include", "thrust": "include", "cuda": "include", "nv": "include"},
		{"cub": "include/cccl", "thrust": "include/cccl", "cuda": "include/cccl",
			"nv": "include/cccl"},
	} {
		if c := ccclWith(dir, layout); c != nil {
			return c
		}
	}
	return nil
}

// ccclWith returns the copy below dir whose directories are in those that a layout names; nil if it
// has no known header there.
func ccclWith(dir string, layout map[string]string) *cccl {
	found := false
	for _, header := range ccclKeys {
		name, _, _ := strings.Cut(header, "/")
		found = found || exists(filepath.Join(dir, layout[name], header))
	}
	if !found {
		return nil
	}
	c := &cccl{dirs: make(map[string]string)}
	for _, name := range ccclNames {
		abs, err := filepath.Abs(filepath.Join(dir, layout[name], name))
		if fi, statErr := os.Stat(abs); err == nil && statErr == nil && fi.IsDir() {
			c.dirs[name] = abs
		}
	}
	return c
}

// exists reports whether a file exists.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// findCCCLFrom is findCCCL for a directory of -I, which may be a part of a checkout: its other parts
// belong to the copy, too.
func findCCCLFrom(dir string) *cccl {
	base := filepath.Base(dir)
	if base == "cub" || base == "thrust" {
		if c := findCCCL(filepath.Dir(dir)); c != nil && c.dirs[base] == absolute(dir, base) {
			return c
		}
	}
	return findCCCL(dir)
}

// absolute joins names to an absolute path.
func absolute(names ...string) string {
	abs, err := filepath.Abs(filepath.Join(names...))
	if err != nil {
		return ""
	}
	return abs
}

// has reports whether a file belongs to the copy.
func (c *cccl) has(abs string) bool {
	if c == nil {
		return false
	}
	for _, dir := range c.dirs {
		if strings.HasPrefix(abs, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// list returns the directories of the copy in the order of ccclNames.
func (c *cccl) list() []string {
	var out []string
	if c != nil {
		for _, name := range ccclNames {
			if dir := c.dirs[name]; dir != "" {
				out = append(out, dir)
			}
		}
	}
	return out
}

// CCCLVar is the environment variable that names a copy of CCCL.
const CCCLVar = "CCCL_DIR"

// toolkitVars are the environment variables by which builds find a CUDA toolkit.
var toolkitVars = []string{"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}

// ccclInstalled are directories in which installers put a copy: a CUDA toolkit, and the packages of
// a distribution. A test replaces them.
var ccclInstalled = []string{"/usr/local/cuda", "/usr/include"}

// ccclPackages is what to do if there is no copy.
const ccclPackages = "CUB and Thrust are part of CCCL, which heddle does not bring: install a copy " +
	"with apt-get install libcub-dev libthrust-dev (Debian, Ubuntu), or name one with --cccl DIR " +
	"(a checkout of github.com/NVIDIA/cccl, or the include directory of a CUDA toolkit)"

// checkCCCL reports a --cccl without headers.
func checkCCCL(opt Options) error {
	if opt.CCCL == "" || findCCCL(opt.CCCL) != nil {
		return nil
	}
	return fmt.Errorf("--cccl %s: found neither cub/cub.cuh nor thrust/version.h; expected a checkout "+
		"of CCCL (with cub/, thrust/ and libcudacxx/include), an include directory that has "+
		"cub/cub.cuh, or the directory of a CUDA toolkit", opt.CCCL)
}

// libraryUse says how a file uses CCCL.
type libraryUse struct {
	uses  *libraryInclude // the first header of CCCL that heddle does not have; nil: none
	owned bool            // it includes headers of CCCL that heddle has, too, such as cuda/atomic
	copy  *cccl           // to compile with; nil: none is needed, or none was found
	// it names built-in atomic functions of nvcc, whose header is too large for the prelude
	nvAtomic bool
	// it names std::min or std::max, which nvcc's <cmath> brings in C++17, and the prelude does not
	minMax bool
	texts  [][]byte // of the file, and of the user's headers that it includes
	// it has the words texture or surface, arguments of these templates, and types of these names
	textureWord, textureArgs, textureType bool
}

// ownTextures reports whether the names texture and surface belong to the file. CUDA 12 has no
// templates of these names any more.
func (l *libraryUse) ownTextures() bool {
	return l.textureType || l.textureWord && !l.textureArgs
}

// nameArgs returns the option by which the prelude leaves the names texture and surface to the file.
func (l *libraryUse) nameArgs() []string {
	if l.ownTextures() {
		return []string{"-D__HEDDLE_OWN_TEXTURES"}
	}
	return nil
}

// libraryInclude is an #include of a header of CCCL.
type libraryInclude struct{ name, where string }

// host reports whether the file is compiled with the host's C++ library.
func (l *libraryUse) host() bool { return l.copy != nil }

// isLibraryHeader reports whether the name in an #include is one of CCCL's.
func isLibraryHeader(name string) bool {
	first, _, ok := strings.Cut(name, "/")
	return ok && (first == "cub" || first == "thrust" || first == "cuda" || first == "nv")
}

// hasOwn reports whether heddle has a header of that name.
func hasOwn(name string) bool {
	_, err := fs.Stat(headerFS, path.Join("headers/cuda", path.Clean(name)))
	return err == nil
}

// note records an #include. where is its file, line and column. hipCUB's headers are CUB's.
func (l *libraryUse) note(name, where string) {
	if rest, ok := strings.CutPrefix(name, "hipcub/"); ok && hasOwn(name) {
		name = "cub/" + rest
	}
	switch {
	case !isLibraryHeader(name):
	case hasOwn(name):
		l.owned = true
	case l.uses == nil:
		l.uses = &libraryInclude{name, where}
	}
}

// choose decides which copy the file is compiled with. One that the user names or finds with -I
// also replaces the headers that heddle has; any other one is used only if the file needs it.
func (l *libraryUse) choose(opt Options, own []string) {
	if l.uses == nil && !l.owned {
		return
	}
	if opt.CCCL != "" {
		l.copy = findCCCL(opt.CCCL)
		return
	}
	for _, dir := range own {
		if l.copy = findCCCLFrom(dir); l.copy != nil {
			return
		}
	}
	if l.uses == nil {
		return
	}
	for _, dir := range installedCCCL(opt) {
		if l.copy = findCCCL(dir); l.copy != nil {
			return
		}
	}
}

// installedCCCL returns the directories in which a copy may be that no option names, in order.
func installedCCCL(opt Options) []string {
	dirs := []string{os.Getenv(CCCLVar), opt.CUDAPath}
	for _, v := range toolkitVars {
		dirs = append(dirs, os.Getenv(v))
	}
	var out []string
	for _, dir := range append(dirs, ccclInstalled...) {
		if dir != "" {
			out = append(out, dir)
		}
	}
	return out
}

// help returns what to do about a header of CCCL that clang does not find; "" if that is not the
// reason.
func (l *libraryUse) help(diagnostics string) string {
	for _, m := range missingRE.FindAllStringSubmatch(diagnosticTexts(diagnostics), -1) {
		if isLibraryHeader(m[1]) && l.copy == nil {
			return ccclPackages
		}
		if isLibraryHeader(m[1]) {
			return fmt.Sprintf("the copy of CCCL at %s does not have %s: is it complete, and of the "+
				"version that the program needs? --cccl DIR names another", l.copy.root(), m[1])
		}
	}
	return ""
}

// root names a copy in messages: the directory above the first of its directories.
func (c *cccl) root() string { return filepath.Dir(c.list()[0]) }

// ccclArgs returns clang's options for a copy, and writes the overlay to a directory. virtual is the
// name of the directory that has the libraries; it does not exist.
func ccclArgs(c *cccl, tmp, virtual string) ([]string, error) {
	if c == nil {
		return nil, nil
	}
	var y strings.Builder
	y.WriteString("{ \"version\": 0, \"use-external-names\": true, \"roots\": [\n")
	for n, dir := range c.list() {
		if n > 0 {
			y.WriteString(",\n")
		}
		fmt.Fprintf(&y, "{ \"type\": \"directory-remap\", \"name\": %q, \"external-contents\": %q }",
			filepath.Join(virtual, filepath.Base(dir)), dir)
	}
	y.WriteString("\n]}\n")
	overlay := filepath.Join(tmp, "cccl.yaml")
	if err := os.WriteFile(overlay, []byte(y.String()), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-ivfsoverlay", overlay, "-isystem", virtual}
	text, err := os.ReadFile(filepath.Join(c.dirs["cuda"], guideHeader))
	if err != nil || !bytes.Contains(text, []byte(guideMacro)) {
		return args, nil // an older copy
	}
	text = append(text, "#undef "+guideMacro+"\n#define "+guideMacro+" _CCCL_HOST_DEVICE\n"...)
	guides, err := writeOverlay(tmp, "guides", map[string][]byte{
		filepath.Join(virtual, "cuda", guideHeader): text})
	return append(args, guides...), err
}

// CCCL leaves it to a macro to give deduction guides the attributes that clang needs (guide.go), and
// not nvcc, which it takes heddle for. It defines the macro in this header of the directory cuda.
const (
	guideMacro  = "_CCCL_DEDUCTION_GUIDE_ATTRIBUTES"
	guideHeader = "std/__cccl/execution_space.h"
)

// ccclFacts returns the comment lines that name the directories of a copy, for reports: a finding in
// a library is shown at the user's call.
func (b *build) ccclFacts() string {
	names := b.debugInfo(&irModule{}).names
	var out strings.Builder
	for _, dir := range b.libs.copy.list() {
		fmt.Fprintf(&out, "// heddle.library %s\n", names(dir))
	}
	return out.String()
}
