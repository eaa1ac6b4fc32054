package lower

import "context"

// Tools are the programs of one LLVM with which files are compiled.
type Tools struct {
	Clang, Opt, Llc string // absolute paths
	Version         string // the first line of clang --version
}

// FindTools returns the programs that Lower uses with these options. It fails with a
// *MissingToolError if there are none.
func FindTools(ctx context.Context, opt Options) (*Tools, error) {
	tc, err := findToolchain(ctx, opt.Compiler, &probeCache{CacheDir(opt)})
	if err != nil {
		return nil, err
	}
	t := &Tools{tc.Clang, tc.Opt, tc.Llc, tc.Version}
	// The version of clang-19 is taken from its name elsewhere; here it is shown.
	if v, err := clangVersion(ctx, tc.Clang); err == nil {
		t.Version = v
	}
	return t, nil
}
