package lower

import (
	"regexp"
	"strings"
	"testing"
)

// TestTemplateNameAt finds the member template that lacks the keyword. The expression begins at the
// bar, the expected name is in brackets; without brackets there is none.
func TestTemplateNameAt(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"cast", "|vec_cast<T, S>::[cast]<n>(d, s);"},
		{"", "|vec_cast<T, S>::[cast]<n>(d, s);"},
		{"", "|a::b<T, (x > y)>::c :: [d]<(n >> 1)>(x < y);"},
		{"load", "v.|[load]<n>(3)"},
		{"load", "p->|[load] <n + 1>(4)"},
		{"load", "|(*this).x"},
		{"inner", "typename T::|[inner]<2> w;"},
		{"f", "|T::f(a < b)"},
		{"f", "|f<n>(a)"},
		{"", "|T::template f<n>(a)"},
		{"g", "|T::template f<n>::[g]<1>(a)"},
		{"", "|x.[a]<1>(b).c"},
		{"", "T::|f"},
		{"f", "|T /* f< */ :: [f]<'>', \"<\">(a)"},
		{"f", "|T<(a; b)>::f<1>(a)"},
		{"f", "|T<a"},
	} {
		at := strings.IndexByte(test.text, '|')
		plain := strings.Replace(test.text, "|", "", 1)
		want := strings.IndexByte(plain, '[')
		plain = strings.NewReplacer("[", "", "]", "").Replace(plain)
		if got, ok := templateNameAt([]byte(plain), at, test.name); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s, %q: %d, %t, want %d", test.text, test.name, got, ok, want)
		}
	}
}

// TestMemberTemplates: without the keyword template before the names of member templates of
// dependent types, which nvcc does not require, a file has the same PTX as with it (C++17
// [temp.names]/4), except for columns. What follows a name keeps its own column.
func TestMemberTemplates(t *testing.T) {
	const text = `
template <class T, class S> struct cast_of {
  template <int n> static __device__ void cast(T *d, const S *s) { for (int i = 0; i < n; i++) d[i] = (T)s[i]; }
  template <int n> static __device__ void cast(T *d, const S *s, int more) { d[n] = (T)s[more]; }
  template <class U> static __device__ U one() { return U(1); }
  template <int n> __device__ int load(int x) const { return n + x; }
  template <int n> __device__ int zero() const { return n; }
  template <class U> __device__ U as(int x) const { return U(x); }
  template <int n> struct inner { static __device__ int f(int x) { return x + n; } int v; };
};
template <class T, class S, int n> __device__ void all(T *d, const S *s) {
  cast_of<T, S>::@cast<n>(d, s);
  cast_of<T, S>::@cast<n>(d, s, 2), d[n + 1] = 9;
  cast_of<T, S> v;
  const cast_of<T, S> *p = &v;
  d[0] += cast_of<T, S>::@one<T>() + p->@load<n + 1>(v.@zero<n>());
  d[1] += v.@load<n>(3) + p->@as<T>(7) + cast_of<T, S>::@inner<n>::f(2);
  typename cast_of<T, S>::@inner<2> w;
  w.v = 3, d[6] += w.v;
}
__global__ void k(float *d, const int *s) { all<float, int, 4>(d, s); }
`
	columns := regexp.MustCompile(`(?m)^\t\.loc.*\n|^// heddle\.(hash|source).*\n`)
	var ptx [2]string
	for i, word := range []string{"template ", ""} {
		in := Input{Name: "k.cu", Content: []byte(strings.ReplaceAll(text, "@", word)), Lang: CUDA}
		results, err := Lower(t.Context(), in, Options{NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if r := results[0]; len(r.Omitted) > 0 || len(r.Warnings) > 0 {
			t.Errorf("%q: %v, %v", word, r.Omitted, r.Warnings)
		}
		ptx[i] = string(results[0].PTX)
	}
	if !strings.Contains(ptx[1], ".loc 1 13 45") { // d[n + 1], as the user wrote it
		t.Errorf("an assignment that follows a name is not at its column:\n%s", ptx[1])
	}
	if a, b := columns.ReplaceAllString(ptx[0], ""), columns.ReplaceAllString(ptx[1], ""); a != b {
		t.Errorf("with the keyword:\n%s\nwithout:\n%s", a, b)
	}
}

// TestMemberTemplatesBehindHostErrors: host code that does not compile hides the errors of a member
// template without the keyword, or stands beside them. Both are mended, and the places of what is
// ignored are those of the user's text.
func TestMemberTemplatesBehindHostErrors(t *testing.T) {
	const kernel = `template <class T> struct of { template <int n> static __device__ T sum(T x, T y) { return x + y + n; } };
template <class T> __device__ T two(T x) { return of<T>::sum<1>(x, 1) + of<T>::sum<2>(x, 2); }
__global__ void k(int *p) { *p = two(*p); }
`
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"missing header": {"#include <surely/missing.h>\n" + kernel,
			[]string{"k.cu:1:10: header surely/missing.h not found"}},
		"alias": {"using Function = missing::function<int>;\n" + kernel + "int main() { Function f; }\n",
			[]string{"k.cu:1:18: heddle ignores", "k.cu:5:14: heddle ignores"}},
		"both": {kernel + "#include <surely/missing.h>\nint main() { missing(); }\n",
			[]string{"k.cu:4:10: header surely/missing.h not found", "k.cu:5:14: heddle ignores"}},
		// the statement that is ignored follows a name to which the keyword was added
		"same line": {kernel + "template <class T> int f() { return of<T>::one<T>() + missing(); }\n",
			[]string{"k.cu:4:55: heddle ignores"}},
	} {
		in := Input{Name: "k.cu", Content: []byte(test.text), Lang: CUDA}
		results, err := Lower(t.Context(), in, Options{NoCache: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := results[0]
		if len(r.Omitted) > 0 || !strings.Contains(string(r.PTX), ".entry _Z1kPi(") {
			t.Errorf("%s: %v", name, r.Omitted)
		}
		if len(r.Warnings) != len(test.want) {
			t.Errorf("%s: %q, want %q", name, r.Warnings, test.want)
			continue
		}
		for i, w := range test.want {
			if !strings.HasPrefix(r.Warnings[i], w) {
				t.Errorf("%s: %q, want %q", name, r.Warnings[i], w)
			}
		}
	}
}
