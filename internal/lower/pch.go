package lower

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"heddle/internal/cache"
	"heddle/internal/lazyregexp"
)

// clang takes about 50 ms to parse the prelude, which is most of the time for a small file, and
// twice as long to write it in precompiled form. So the first compilation reads it as text and
// leaves an empty file as a mark; the second one also reads it as text, while another clang
// precompiles it on another core; all later ones use the precompiled form. It is in the cache
// directory, with one file for each compiler, each set of options that affect the prelude, and each
// path of the headers, which is in the precompiled form: under another one, findings would be at
// lines of heddle's own headers. clang checks that the headers have not changed. If it rejects the
// precompiled form for any reason, heddle removes the file and compiles without it.

// maxPCH bounds the number of precompiled preludes, of 1.5 MB each.
const maxPCH = 16

// newerRE matches standards from C++20 on. In these clang compares the definitions in a precompiled
// header, takes overloads for host and device for two definitions of one function, and may crash
// after that error.
var newerRE = lazyregexp.New(`\+\+2[0-9a-c]$`)

// findPCH returns the path of the precompiled prelude of this compilation, "" without a cache
// directory, with options of unknown effect, or for a standard from C++20 on. there reports that it
// exists, wanted that an earlier compilation left the mark.
func (b *build) findPCH(cache resultCache) (path string, there, wanted bool) {
	if cache.dir == "" || len(b.opt.Args) > 0 || b.opt.CUDAPath != "" || b.libs.ownTextures() ||
		newerRE.MatchString(b.opt.Std) {
		return "", false, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n", formatVersion, headerHash(), b.headers,
		b.tc.Stamp, b.arch(), b.opt.Std, b.opt.OptLevel)
	path = filepath.Join(cache.dir, "pch-"+hex.EncodeToString(h.Sum(nil))[:24])
	fi, err := os.Stat(path)
	return path, err == nil && fi.Size() > 0, err == nil
}

// preparePCH makes the compilation use the precompiled prelude if it exists. Otherwise it leaves
// the mark or, if the mark exists, starts to precompile. The returned function waits for that to
// end.
func (b *build) preparePCH(ctx context.Context, results resultCache) (wait func()) {
	b.pch = ""
	path, there, wanted := b.findPCH(results)
	switch {
	case there:
		b.pch = path
	case wanted:
		made := make(chan struct{})
		p := *b
		go func() {
			defer close(made)
			p.makePCH(ctx, path)
			cache.Prune(results.dir, "pch-", maxPCH)
		}()
		return func() { <-made }
	case path != "":
		_ = cache.Write(path, nil) // if this fails, the next compilation counts as the first again
	}
	return func() {}
}

// makePCH precompiles the prelude. If that fails, the next compilation tries again.
func (b *build) makePCH(ctx context.Context, path string) {
	made := filepath.Join(b.tmp, "pch")
	b.path = filepath.Join(b.headers, "heddle", "pch.cu")
	b.opt, b.cccl = b.opt.withoutFiles(), nil
	b.libs.nvAtomic, b.libs.minMax = false, false // of the user's files
	// keep its dependency file apart from that of the compilation
	b.tmp = filepath.Join(b.tmp, "prelude")
	if os.Mkdir(b.tmp, 0o700) != nil ||
		command(ctx, b.tc.Clang, b.clangArgs("-Xclang", "-emit-pch", "-o", made)...).Run() != nil {
		return
	}
	if text, err := os.ReadFile(made); err == nil {
		_ = cache.Write(path, text)
	}
}

// withoutFiles returns opt without the options that concern only the user's files: the prelude must
// not depend on the user's macros and include directories.
func (opt Options) withoutFiles() Options {
	opt.Includes, opt.Systems, opt.Defines, opt.Undefines, opt.Forced = nil, nil, nil, nil, nil
	opt.Strict = false // strict.h is read after the prelude
	return opt
}

// preludeArgs returns the options that make clang read the prelude first.
func (b *build) preludeArgs() []string {
	if b.opt.CUDAPath != "" {
		return nil
	}
	if b.pch != "" {
		return []string{"-Xclang", "-include-pch", "-Xclang", b.pch}
	}
	return []string{"-include", filepath.Join(b.headers, "heddle", "prelude.h")}
}
