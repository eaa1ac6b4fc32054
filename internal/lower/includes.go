package lower

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// An included pipe blocks clang, and a device may have no end, also when heddle hashes what a
// compilation read. So the files that the input names, and those that they name, must be regular.
// The names are read from the text without preprocessing it, so those that macros build are missed;
// the memory of clang is limited for these (limitMemory).

// includeRE matches the directives that read a file.
var includeRE = lazyregexp.New(
	`(?m)^[ \t]*#[ \t]*(?:include|include_next|import|embed)[ \t]*["<]([^">\n]+)[">]`)

// maxIncludes bounds the files that checkIncludes reads.
const maxIncludes = 2000

// checkIncludes reports an #include of something that is no regular file. It returns how the input
// uses CCCL, whose own headers it does not read.
func checkIncludes(in Input, content []byte, opt Options) (libraryUse, error) {
	dirs := append([]string{}, opt.Includes...)
	dirs = append(dirs, opt.Systems...)
	c := &includeCheck{dirs: dirs, seen: map[string]bool{}}
	for _, f := range opt.Forced {
		c.libs.note(f, "-include")
		if err := c.file(in.Name, ".", f); err != nil {
			return libraryUse{}, err
		}
	}
	dir := filepath.Dir(in.Name)
	if in.Content != nil {
		dir = "." // newBuild: #include "..." is resolved in the working directory
	}
	if err := c.text(in.Name, dir, content); err != nil {
		return libraryUse{}, err
	}
	for range maxIncludes {
		if len(c.work) == 0 {
			break
		}
		path := c.work[0]
		c.work = c.work[1:]
		text, err := source.ReadRegular(path, maxInput)
		if err != nil {
			continue // clang reports it
		}
		if err := c.text(path, filepath.Dir(path), text); err != nil {
			return libraryUse{}, err
		}
	}
	if in.Lang != OpenCL {
		c.libs.choose(opt, append([]string{dir}, dirs...))
	}
	return c.libs, nil
}

// includeCheck is the state of checkIncludes.
type includeCheck struct {
	dirs []string // in which headers are searched
	seen map[string]bool
	work []string // files that are still to be read
	libs libraryUse
}

// nvAtomicRE matches a name of nvcc's built-in atomic functions with an order and a scope.
var nvAtomicRE = lazyregexp.New(`\b__(nv_atomic|NV_ATOMIC)_\w`)

// How a text uses the names of texture and surface references.
var (
	textureWordRE = lazyregexp.New(`\b(texture|surface)\b`)
	textureArgsRE = lazyregexp.New(`\b(texture|surface)\s*<`)
	textureTypeRE = lazyregexp.New(`\b(class|struct|union|enum|using)\s+(texture|surface)\b`)
)

// minMaxRE matches a use of std::min or std::max.
var minMaxRE = lazyregexp.New(`\bstd\s*::\s*(min|max)\b`)

// text checks the directives in the text of a file in a directory.
func (c *includeCheck) text(name, dir string, text []byte) error {
	// Expressions that begin with the end of a word are slow, and few texts have their words.
	has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	if has("__nv_atomic_") || has("__NV_ATOMIC_") {
		c.libs.nvAtomic = c.libs.nvAtomic || nvAtomicRE.Match(text)
	}
	if has("texture") || has("surface") {
		c.libs.textureWord = c.libs.textureWord || textureWordRE.Match(text)
		c.libs.textureArgs = c.libs.textureArgs || textureArgsRE.Match(text)
		c.libs.textureType = c.libs.textureType || textureTypeRE.Match(text)
	}
	if has("std") {
		c.libs.minMax = c.libs.minMax || minMaxRE.Match(text)
	}
	c.libs.texts = append(c.libs.texts, text)
	for _, m := range includeRE.FindAllSubmatchIndex(text, -1) {
		line := 1 + bytes.Count(text[:m[0]], []byte{'\n'})
		where, header := fmt.Sprintf("%s:%d", name, line), string(text[m[2]:m[3]])
		column := m[2] - bytes.LastIndexByte(text[:m[2]], '\n') - 1 // of the quote or bracket
		c.libs.note(header, fmt.Sprintf("%s:%d", where, column))
		if err := c.file(where, dir, header); err != nil {
			return err
		}
	}
	return nil
}

// file checks one name in each directory in which clang may find it, and notes regular files for
// reading.
func (c *includeCheck) file(where, dir, name string) error {
	var paths []string
	if filepath.IsAbs(name) {
		paths = []string{name}
	} else {
		for _, d := range append([]string{dir}, c.dirs...) {
			paths = append(paths, filepath.Join(d, name))
		}
	}
	for _, p := range paths {
		if c.seen[p] {
			continue
		}
		c.seen[p] = true
		fi, err := os.Stat(p)
		if err != nil || fi.IsDir() {
			continue
		}
		if err := source.NotRegular(fi.Mode()); err != nil {
			return &InputError{File: where, Reason: fmt.Sprintf("cannot include %s: %v", p, err)}
		}
		if !isLibraryHeader(name) {
			c.work = append(c.work, p)
		}
	}
	return nil
}
