package lower

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHeaderOf: the headers of names in clang's errors are those of the C++ standard (C++17
// [headers], in which each name is declared) and of Thrust's documentation.
func TestHeaderOf(t *testing.T) {
	for message, want := range map[string]string{
		"no template named 'function' in namespace 'std'":                                        "std::function functional",
		"no template named 'tuple' in namespace 'thrust'; did you mean 'std::tuple'?":            "thrust::tuple thrust/tuple.h",
		"no member named 'make_tuple' in namespace 'thrust'; did you mean 'std::make_tuple'?":    "thrust::make_tuple thrust/tuple.h",
		"no type named 'string' in namespace 'std'":                                              "std::string string",
		"no member named 'sort' in namespace 'thrust'":                                           "thrust::sort thrust/sort.h",
		"implicit instantiation of undefined template 'std::basic_ostringstream<char>'":          "std::ostringstream sstream",
		"implicit instantiation of undefined template 'std::__cxx11::basic_ostringstream<char>'": "std::ostringstream sstream",
		"implicit instantiation of undefined template 'std::array<float, 3>'":                    "std::array array",
		"no member named 'vectr' in namespace 'std'; did you mean 'vector'?":                     "std::vectr ",
		"no member named 'function' in 'std::tuple<int>'":                                        " ",
		"implicit instantiation of undefined template 'mine::tuple<int>'":                        " ",
		"no template named 'function' in namespace 'mine'":                                       " ",
		"use of undeclared identifier 'function'; did you mean 'std::function'?":                 " ",
	} {
		if name, header := headerOf(message); name+" "+header != want {
			t.Errorf("%s: %q, %q, want %q", message, name, header, want)
		}
	}
}

// TestUndeclaredNames: a file that uses names of the C++ library without their headers has the same
// PTX as with them, apart from places, and a warning for each header. A name of no library is an
// error, and so is one whose header does not exist.
func TestUndeclaredNames(t *testing.T) {
	const text = `#include <functional>
#include <array>
struct P { int *d; };
template <class T> __global__ void k(T *d, std::array<T, 3> a) { d[threadIdx.x] = a[threadIdx.x % 3]; }
template <class T> struct Entry {
  std::function<void(P &)> f = [](P &p) { k<T><<<1, 32>>>((T *)p.d, std::array<T, 3>{1, 2, 3}); };
};
Entry<int> one;
Entry<float> two;
`
	places := regexp.MustCompile(`(?m)^\t?\.(loc|file).*\n|^// heddle\..*\n`)
	var ptx [2]string
	for i, from := range []string{text, strings.Replace(strings.Replace(text, "#include <functional>", "", 1),
		"#include <array>", "", 1)} {
		r := lowerSource(t, from, Options{Compiler: compilers(t)[0]})
		if len(r.Omitted) > 0 || len(r.Kernels) != 2 {
			t.Errorf("%d kernels, %v", len(r.Kernels), r.Omitted)
		}
		ptx[i] = places.ReplaceAllString(string(r.PTX), "")
		var headers []string
		for _, w := range r.Warnings {
			_, header, _ := strings.Cut(w, "; heddle includes ")
			headers = append(headers, header)
		}
		slices.Sort(headers)
		if want := [][]string{nil, {"<array>", "<functional>"}}[i]; !slices.Equal(headers, want) {
			t.Errorf("%v: included %q, want %q", r.Warnings, headers, want)
		}
	}
	if ptx[0] != ptx[1] {
		t.Errorf("with the headers:\n%s\nwithout:\n%s", ptx[0], ptx[1])
	}
	// Host code that is invalid with the header, too, or whose header has a name of the file, is left
	// out, as is any other.
	for _, host := range []string{"struct Q {}; void f() { Q x[3]; std::sort(x, x + 3); }",
		"using namespace std;\n__device__ int count;\n__global__ void c() { count = 1; }\nvoid f() { std::sort((int *)0, (int *)0); }",
		"template <class T> struct array { T x; };\nusing namespace std;\n__global__ void c(array<int> a) {}\nvoid f() { std::array<int, 2> a; }",
	} {
		r := lowerSource(t, "#include <utility>\n__global__ void k(int *a) { a[threadIdx.x] = 1; }\n"+host+"\n",
			Options{Compiler: compilers(t)[0]})
		if len(r.Omitted) > 0 || len(r.Kernels) != strings.Count(host, "__global__")+1 || len(r.Warnings) == 0 ||
			strings.Contains(strings.Join(r.Warnings, ""), "heddle includes") {
			t.Errorf("%s: %d kernels, omitted %v, warnings %q", host, len(r.Kernels), r.Omitted, r.Warnings)
		}
	}
	for _, name := range []string{"std::surely_missing", "thrust::surely_missing"} {
		src := "namespace thrust {}\n#include <utility>\n__global__ void k(" + name + "<int> *p) {}\n"
		in := Input{Name: "k.cu", Content: []byte(src), Lang: CUDA}
		var refused *CompileError
		if _, err := Lower(t.Context(), in, Options{NoCache: true}); !errors.As(err, &refused) ||
			!strings.Contains(refused.Output, "surely_missing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
