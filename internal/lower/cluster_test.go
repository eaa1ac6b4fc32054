package lower

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
)

// fixedShapes are kernels with the directives that their qualifiers mean (CUDA C++ Programming
// Guide, "Thread Block Clusters" and "Launch Bounds"; PTX ISA 11.4, 11.7).
var fixedShapes = []struct{ source, want string }{
	{"__global__ void __cluster_dims__(2, 1, 1) a(int *p) { *p = 1; }",
		`^\.explicitcluster \.reqnctapercluster 2, 1, 1$`},
	{"__global__ void __cluster_dims__(4) __launch_bounds__(128) b(int *p) { *p = 1; }",
		`^\.maxntid 128, 1, 1 \.explicitcluster \.reqnctapercluster 4, 1, 1$`},
	{"template <int N> __global__ void __cluster_dims__(N, 2) c(int *p) { *p = N; }\n" +
		"template __global__ void c<3>(int *);", `^\.explicitcluster \.reqnctapercluster 3, 2, 1$`},
	{"__global__ void __block_size__((128, 2, 1), (2, 1, 1)) d(int *p) { *p = 1; }",
		`^\.reqntid 128, 2, 1 \.explicitcluster \.reqnctapercluster 2, 1, 1$`},
	{"__global__ void __block_size__((64)) __maxnreg__(32) e(int *p) { *p = 1; }", `^\.reqntid 64, 1, 1$`},
	{"__global__ void __attribute__((annotate(\"other\", 1, 2, 3))) f(int *p) { *p = 1; }", `^$`},
}

// directivesRE matches the directives between the parameters and the body of a kernel.
var directivesRE = regexp.MustCompile(`(?s)\.entry [^{]*?\n\)\n(.*?)\{`)

func TestFixedShapes(t *testing.T) {
	for _, c := range fixedShapes {
		s := directivesRE.FindStringSubmatch(string(lowerSource(t, c.source, Options{Arch: "sm_90"}).PTX))
		if s == nil {
			t.Errorf("%s: no kernel", c.source)
			continue
		}
		if got := strings.Join(strings.Fields(s[1]), " "); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %q, want %s", c.source, got, c.want)
		}
	}
}

// TestClustersNeedHopper: an architecture without clusters cannot run the kernel as it is meant.
// Where nobody names one, the file is compiled for one that can, the second time from the cache.
func TestClustersNeedHopper(t *testing.T) {
	in := Input{Name: "k.cu", Content: []byte(fixedShapes[0].source)}
	for _, opt := range []Options{{Arch: "sm_80", NoCache: true}, {Strict: true, NoCache: true}} {
		_, err := Lower(context.Background(), in, opt)
		var mistake *InputError
		if !errors.As(err, &mistake) || !strings.Contains(mistake.Reason, "--arch sm_90") {
			t.Errorf("%+v: %v, want a mistake that names --arch sm_90", opt, err)
		}
	}
	dir := t.TempDir()
	for _, cached := range []bool{false, true} {
		r, err := Lower(context.Background(), in, Options{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(r[0].PTX), "\n.target sm_90\n") || r[0].Cached != cached {
			t.Errorf("cached %v, want %v:\n%s", r[0].Cached, cached, r[0].PTX)
		}
	}
	// Host code that does not compile is left out first.
	in.Content = append(in.Content, "\nvoid host() { undeclared(); }\n"...)
	r, err := Lower(context.Background(), in, Options{NoCache: true})
	if err != nil || !strings.Contains(string(r[0].PTX), "\n.target sm_90\n") {
		t.Errorf("%v, want PTX for sm_90", err)
	}
}

// TestClusterWindows: the functions of CUDA for the windows of shared memory of a cluster and of
// the block (PTX ISA 9.7.9.19). libcu++ asks the first of each address that may be shared.
func TestClusterWindows(t *testing.T) {
	ptx := string(lowerSource(t, `__global__ void k(int *p) {
  p[0] = __isClusterShared(p + 1);
  p[1] = __isCtaShared(p + 2);
}`, Options{Arch: "sm_90"}).PTX)
	for _, want := range []string{"isspacep.shared::cluster ", "isspacep.shared "} {
		if !strings.Contains(ptx, want) {
			t.Errorf("want %q:\n%s", want, ptx)
		}
	}
}
