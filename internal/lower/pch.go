package lower

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"heddle/internal/cache"
)

// The prelude takes clang about 50 ms to parse, most of the time that a small file needs, and twice that to
// write down in precompiled form. So the first compilation reads it as text and leaves a mark; the second one
// reads it as text too, while another clang precompiles it on another core; all later ones use that. It is kept
// in the cache directory, one file for each compiler and set of options that change what the prelude means.
// clang itself checks that the headers behind it are unchanged; whatever it says against the precompiled form,
// the file is removed and the compilation made without.

// maxPCH bounds the number of precompiled preludes (1.5 MB each).
const maxPCH = 16

// findPCH returns where the precompiled prelude of this compilation is kept, "" without a cache directory or
// with options of unknown effect, and what is there.
func (b *build) findPCH(cache resultCache) (path string, there, wanted bool) {
	if cache.dir == "" || len(b.opt.Args) > 0 || b.opt.CUDAPath != "" {
		return "", false, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s\n%s\n", formatVersion, headerHash(), b.tc.Stamp, b.arch(), b.opt.Std, b.opt.OptLevel)
	path = filepath.Join(cache.dir, "pch-"+hex.EncodeToString(h.Sum(nil))[:24])
	fi, err := os.Stat(path)
	return path, err == nil && fi.Size() > 0, err == nil
}

// preparePCH has the compilation use the precompiled prelude if it is there. Else it leaves a mark, an empty
// file, or where that is there already, begins to make it. The function that it returns waits for that.
func (b *build) preparePCH(ctx context.Context, results resultCache) (wait func()) {
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
		_ = cache.Write(path, nil) // without it, the next compilation is the first again
	}
	return func() {}
}

// makePCH precompiles the prelude. Without success the next compilation tries again.
func (b *build) makePCH(ctx context.Context, path string) {
	made := filepath.Join(b.tmp, "pch")
	b.path = filepath.Join(b.headers, "heddle", "pch.cu")
	b.opt = b.opt.withoutFiles()
	b.tmp = filepath.Join(b.tmp, "prelude") // its dependency file must not meet that of the compilation
	if os.Mkdir(b.tmp, 0o700) != nil || command(ctx, b.tc.Clang, b.clangArgs("-Xclang", "-emit-pch", "-o", made)...).Run() != nil {
		return
	}
	if text, err := os.ReadFile(made); err == nil {
		_ = cache.Write(path, text)
	}
}

// withoutFiles drops what concerns the user's files alone.
func (opt Options) withoutFiles() Options {
	opt.Includes, opt.Systems, opt.Defines, opt.Undefines, opt.Forced = nil, nil, nil, nil, nil
	return opt
}

// preludeArgs makes clang begin with the prelude.
func (b *build) preludeArgs() []string {
	if b.opt.CUDAPath != "" {
		return nil
	}
	if b.pch != "" {
		return []string{"-Xclang", "-include-pch", "-Xclang", b.pch}
	}
	return []string{"-include", filepath.Join(b.headers, "heddle", "prelude.h")}
}
