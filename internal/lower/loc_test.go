package lower

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// stackAt returns the inline stack of the first instruction that matches pattern, by the rule of
// PTX ISA 11.5.4: inlined_at refers to the most recent .loc with that position. It returns
// "line:col" innermost first, with the function for inlined frames.
func stackAt(t *testing.T, ptx, pattern string) []string {
	t.Helper()
	type loc struct{ at, fn, in string }
	recent := make(map[string]loc)
	names := debugNames(ptx)
	locRE := regexp.MustCompile(
		`^\.loc (\d+ \d+ \d+)(?:, function_name (\S+), inlined_at (\d+ \d+ \d+))?$`)
	inst := regexp.MustCompile(pattern)
	var cur loc
	for _, line := range strings.Split(ptx, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ".loc") {
			m := locRE.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("not a legal .loc: %s", line)
			}
			cur = loc{m[1], m[2], m[3]}
			if cur.in != "" {
				if _, ok := recent[cur.in]; !ok {
					t.Fatalf("inlined_at a position that no .loc precedes: %s", line)
				}
			}
			recent[cur.at] = cur
			continue
		}
		if inst.MatchString(line) {
			var out []string
			for l := cur; ; l = recent[l.in] {
				s := l.at
				if l.fn != "" {
					s += " " + names[l.fn]
				}
				out = append(out, s)
				if l.in == "" {
					return out
				}
			}
		}
	}
	t.Fatalf("no instruction %s in\n%s", pattern, ptx)
	return nil
}

// debugNames reads the strings of .debug_str by their labels.
func debugNames(ptx string) map[string]string {
	out := make(map[string]string)
	label := ""
	for _, line := range strings.Split(ptx, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "$L__heddle_name") && strings.HasSuffix(line, ":") {
			label = strings.TrimSuffix(line, ":")
		} else if label != "" && strings.HasPrefix(line, ".b8 ") {
			var b strings.Builder
			for _, f := range strings.Split(strings.TrimPrefix(line, ".b8 "), ", ") {
				var c int
				fmt.Sscan(f, &c)
				if c != 0 {
					b.WriteByte(byte(c))
				}
			}
			out[label], label = b.String(), ""
		}
	}
	return out
}

func TestInlineStacks(t *testing.T) {
	src := `__device__ __forceinline__ int leaf(const int *p, int i) {
  return p[i];
}
__device__ int middle(const int *p, int i) {
  return leaf(p, i) +
         leaf(p, i + 7);
}
namespace app {
template <int N> __device__ void put(int *q, int v) { q[N] = v; }
}
__global__ void k(const int *p, int *q) {
  app::put<5>(q, middle(p, threadIdx.x));
  atomicAdd(q + 1, 3);
}
`
	eachCompiler(t, func(t *testing.T, compiler string) {
		ptx := string(lowerSource(t, src, Options{Compiler: compiler}).PTX)
		for pattern, want := range map[string][]string{
			`ld\.global\.u32.*\];`:      {"1 2 10 _Z4leafPKii", "1 5 10 _Z6middlePKii", "1 12 18"},
			`ld\.global\.u32.*\+28\];`:  {"1 2 10 _Z4leafPKii", "1 6 10 _Z6middlePKii", "1 12 18"},
			`st\.global\.u32.*\[.*\+20`: {"1 9 60 _ZN3app3putILi5EEEvPii", "1 12 3"},
			// Frames of the embedded headers are omitted: the position is the user's call.
			`atom\.global\.add`: {"1 13 3"},
			`ret;`:              {"1 14 1"},
		} {
			got := stackAt(t, ptx, pattern)
			if strings.Join(got, " < ") != strings.Join(want, " < ") {
				t.Errorf("%s: stack %q, want %q\n%s", pattern, got, want, ptx)
			}
		}
	})
}

func TestKernelFacts(t *testing.T) {
	src := `struct S { int a; double b; };
namespace ns {
  template <typename T>
  __global__ void kern(T *out, const float *in, int n, double x, S s, int) { out[0] = in[n] + x + s.a; }
}
extern "C" __global__ void plain() {}
void host() { ns::kern<int><<<1, 1>>>(0, 0, 0, 0, S(), 0); }
`
	eachCompiler(t, func(t *testing.T, compiler string) {
		r := lowerSource(t, src, Options{Compiler: compiler})
		if len(r.Kernels) != 2 {
			t.Fatalf("kernels %v, want 2", r.Kernels)
		}
		var k Kernel
		for _, c := range r.Kernels {
			if c.Name == "_ZN2ns4kernIiEEvPT_PKfid1Si" {
				k = c
			}
		}
		if want := "void ns::kern<int>(int*, float const*, int, double, S, int)"; k.Demangled != want {
			t.Errorf("demangled %q, want %q", k.Demangled, want)
		}
		var got []string
		for _, p := range k.Params {
			typ := p.Type
			if p.Pointer {
				typ = "pointer" // "ptr", or a typed pointer before LLVM 15
			}
			got = append(got, p.Name+":"+typ)
		}
		// LLVM 14 to 19 lay S out in 16 bytes and pass it as its bytes.
		if want := "out:pointer in:pointer n:i32 x:double s:[16 x i8] arg5:i32"; strings.Join(got,
			" ") != want {
			t.Errorf("parameters %q, want %q", strings.Join(got, " "), want)
		}
		head := string(r.PTX)
		for _, want := range []string{
			"// heddle.kernel _ZN2ns4kernIiEEvPT_PKfid1Si 4 19 ",
			"// heddle.kernel plain 6 28 ",
			"// heddle.param _ZN2ns4kernIiEEvPT_PKfid1Si 2 n val i32\n",
		} {
			if !strings.Contains(head, want) {
				t.Errorf("no line %q in\n%s", want, head)
			}
		}
	})
}
