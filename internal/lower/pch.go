package lower

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// The prelude takes clang about 100 ms to parse, most of the time that a small file needs. It is kept in
// precompiled form in the cache directory, one file for each compiler and set of options that change
// what the prelude means. clang itself checks that the headers behind it are unchanged; whatever it
// says against the precompiled form, the file is removed and the compilation made without.

// maxPCH bounds the number of precompiled preludes (1.5 MB each).
const maxPCH = 16

// precompiled returns the path of the precompiled prelude, making it first if need be; "" without a cache
// directory, with options of unknown effect, or if it cannot be made.
func (b *build) precompiled(ctx context.Context, cache resultCache) string {
	if cache.dir == "" || len(b.opt.Args) > 0 || b.opt.CUDAPath != "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s\n%s\n", formatVersion, headerHash(), b.tc.Stamp, b.arch(), b.opt.Std, b.opt.OptLevel)
	path := filepath.Join(cache.dir, "pch-"+hex.EncodeToString(h.Sum(nil))[:24])
	if _, err := os.Stat(path); err == nil {
		return path
	}
	made := filepath.Join(b.tmp, "pch")
	p := *b
	p.path = filepath.Join(b.headers, "heddle", "pch.cu")
	p.opt = p.opt.withoutFiles()
	if command(ctx, b.tc.Clang, p.clangArgs("-Xclang", "-emit-pch", "-o", made)...).Run() != nil {
		return ""
	}
	text, err := os.ReadFile(made)
	if err != nil || writeAtomic(path, text) != nil {
		return ""
	}
	cache.prune("pch-", maxPCH)
	return path
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
