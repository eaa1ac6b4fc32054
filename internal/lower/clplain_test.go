package lower

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clBuild returns a build for an OpenCL C file.
func clBuild(t *testing.T, tc *toolchain, root, path string) *build {
	t.Helper()
	return &build{tc: tc, name: path, path: path, headers: root, tmp: t.TempDir(),
		cl: &openCL{std: "CL2.0"}}
}

// TestCLPlain compares what is read of a file without clang with what its preprocessor says: the
// built-in functions and the variants of headers that the file may use.
func TestCLPlain(t *testing.T) {
	tc, err := findToolchain(t.Context(), "", &probeCache{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := writeHeaders(testCache)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"../../testdata/*/*.cl", "../../testdata/*/*/*.cl",
		"../../examples/*.cl", "testdata/*.cl"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if testing.Short() {
		files = files[:min(len(files), 20)]
	}
	plain := 0
	for i, path := range files {
		b := clBuild(t, tc, root, path)
		if i%2 == 1 { // names that several files use
			b.opt.Defines = []string{"__HEDDLE_WORK_DIM=2", "N=64", "i=(1+2)", "get_local_id=3"}
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := b.clPlain(string(content))
		if !ok {
			continue
		}
		out, err := b.frontEnd(t.Context(), "-E", "-P")
		if err != nil {
			continue // not of this version of the language
		}
		plain++
		_, own, _ := strings.Cut(string(out), endOfBase)
		names, unsupported := clNames(got)
		want, reason := clNames(string(out))
		slices.Sort(names)
		slices.Sort(want)
		slices.Sort(unsupported)
		slices.Sort(reason)
		if d := cmp.Diff(want, names); d != "" || !slices.Equal(unsupported, reason) {
			t.Errorf("%s: %q, want %q; -preprocessed +plain\n%s", path, unsupported, reason, d)
		}
		if d := cmp.Diff(clVariants(own), clVariants(got)); d != "" {
			t.Errorf("%s: -preprocessed +plain\n%s", path, d)
		}
	}
	t.Logf("%d of %d files", plain, len(files))
	if plain < len(files)/4 {
		t.Error("hardly any file is plain")
	}
}

// TestCLPlainText shows which files the preprocessor is needed for.
func TestCLPlainText(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		ok               bool
	}{
		{"comments", "a /* sin */b // cos\nc", "a  b \nc", true},
		{"a comment in a literal", "p(\"/* sin */ // \\\" x\") q", "p(\"/* sin */ // \\\" x\") q", true},
		{"an apostrophe in a comment", "a // don't\nb", "a \nb", true},
		{"a pragma", " # pragma unroll\na # b", " \na # b", true},
		{"a pragma with a comment over lines", "#pragma unroll /* sin\n cos */", "", false},
		{"a comment in front of a directive", "/* a */ #define F sin\n", "", false},
		{"a digraph", "%:define F sin\n", "", false},
		{"a trigraph", "?\x3f=define F sin\n", "", false},
		{"a line that goes on", "si\\\nn(x)", "", false},
		{"a comment without an end", "a /* sin", "", false},
		{"a macro", "#define F(x) s##x\nF(in)(1)", "", false},
		{"a header", "#include \"a.h\"\n", "", false},
	} {
		got, ok := new(build).clPlain(c.text)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	numbers := &build{opt: Options{Defines: []string{"N=(3+0x10u)", "sin", "F=7", "E="},
		Undefines: []string{"F"}}}
	const text = "N+N1 1N .5N 1e+N a.N x sin(F)E \"N\" 'N' /* N */\n#pragma unroll N\n"
	const want = " (3+0x10u) +N1 1N .5N 1e+N a. (3+0x10u)  x  1 (F)   \"N\" 'N'  \n\n"
	if got, ok := numbers.clPlain(text); got != want || !ok {
		t.Errorf("with macros: %q, %v, want %q", got, ok, want)
	}
	for name, opt := range map[string]Options{"-D": {Defines: []string{"F=sin"}},
		"-D with parameters": {Defines: []string{"F(x)=1"}}, "-D of a comment": {Defines: []string{"F=/*"}},
		"-D of a literal": {Defines: []string{"F=\"1\""}}, "-D of a suffix": {Defines: []string{"F=.x"}},
		"-include": {Forced: []string{"a.h"}}, "options": {Args: []string{"-DF=sin"}}} {
		if _, ok := (&build{opt: opt}).clPlain("F(x)"); ok {
			t.Errorf("%s may define names", name)
		}
	}
}
