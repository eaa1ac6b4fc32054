package syntax_test

import (
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/edit"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// In the texts of this test, ^ after a statement requests a barrier after it, ~ after a barrier its
// removal, and ? after an assignment a barrier between its reads and its write. No statement is
// known to be executed by all threads.
var rewriteTests = []struct {
	name, in, want string
}{
	{
		name: "barriers in a branch, and a variable that lives on",
		in: `__global__ void k(int *a, int n) {
    int t = threadIdx.x;
    if (t < n) { // some
        a[t] = 1;
        __syncthreads();
        // what the others wrote
        int left = a[t + 1];
        a[t] = left; // changed
        __syncthreads(); // again
        a[0] = left;
    } // done
}
`,
		want: `__global__ void k(int *a, int n) {
    int t = threadIdx.x;
    if (t < n) { // some
        a[t] = 1;
    }
    __syncthreads();
    int left = 0;
    if (t < n) {
        // what the others wrote
        left = a[t + 1];
        a[t] = left; // changed
    }
    __syncthreads(); // again
    if (t < n) {
        a[0] = left;
    } // done
}
`,
	},
	{
		name: "a new barrier in an else without braces, with tabs",
		in: "__global__ void k(int *a, int n) {\n\tif (a[0] || n)\n\t\ta[1] = 2;\n\telse\n\t\ta[2] = " +
			"3;^\n\ta[3] = 4;\n}\n",
		want: "__global__ void k(int *a, int n) {\n\tconst bool active = a[0] || n;\n\tif (active) {\n\t\ta[1] = 2;\n\t}\n\tif (!active) {\n\t\ta[2] = 3;\n\t}\n\t__syncthreads();\n\ta[3] = 4;\n}\n",
	},
	{
		name: "CRLF",
		in: "__global__ void k(int *a, int n) {\r\n  if (n) {\r\n    a[1] = 2;^\r\n    a[2] = 3;\r\n " +
			" }\r\n}\r\n",
		want: "__global__ void k(int *a, int n) {\r\n  if (n) {\r\n    a[1] = 2;\r\n  }\r\n  __syncthreads();\r\n  if (n) {\r\n    a[2] = 3;\r\n  }\r\n}\r\n",
	},
	{
		name: "braces in lines of their own, and a loop",
		in: `__global__ void k(int *a, int n)
{
    for (int i = threadIdx.x; i < n; i += 64)
    {
        a[i] = 1;
        __syncthreads();
        if (a[i])
            continue;
        a[0] += 1;
    }
}
`,
		want: `__global__ void k(int *a, int n)
{
    bool p = true;
    for (int i = threadIdx.x; __syncthreads_or(p = p && i < n); i += 64)
    {
        bool q = p;
        if (q)
        {
            a[i] = 1;
        }
        __syncthreads();
        q = q && !a[i];
        if (q)
        {
            a[0] += 1;
        }
    }
}
`,
	},
	{
		name: "break, a step that others see, and a condition that binds less",
		in: `__global__ void k(int *a, int n) {
    int i = 0;
    for (i = 0; a[i] || n; i++) {
        if (i > n) {
            a[1] = 2;
            break;
        }
        a[2] = 3;^
        a[3] = 4;
    }
}
`,
		want: `__global__ void k(int *a, int n) {
    int i = 0;
    bool p = true;
    for (i = 0; __syncthreads_or(p = p && (a[i] || n));) {
        if (p && i > n) {
            a[1] = 2;
            p = false;
        }
        if (p) {
            a[2] = 3;
        }
        __syncthreads();
        if (p) {
            a[3] = 4;
        }
        if (p)
            i++;
    }
}
`,
	},
	{
		name: "an early return",
		in: `__global__ void k(int *a, int n) {
    int t = threadIdx.x;
    if (t >= n)
        return; 
    __syncthreads();
    int v = a[t];
    __shared__ int s[64];
    __syncthreads();
    s[t] = v;
}
`,
		want: `__global__ void k(int *a, int n) {
    int t = threadIdx.x;
    __syncthreads();
    int v = 0;
    __shared__ int s[64];
    if (t < n) {
        v = a[t];
    }
    __syncthreads();
    if (t < n) {
        s[t] = v;
    }
}
`,
	},
	{
		name: "a return in a loop, do, while",
		in: `__global__ void k(int *a, int n) {
    do {
        a[1] = 1;^
        while (n--) {
            if (a[n]) return;
            a[n] = 2;^
        }
    } while (a[0]);
}
`,
		want: `__global__ void k(int *a, int n) {
    bool active = true;
    bool p = true;
    do {
        if (p) {
            a[1] = 1;
        }
        __syncthreads();
        bool p2 = p;
        while (__syncthreads_or(p2 = p2 && n--)) {
            if (p2 && a[n]) p2 = p = active = false;
            if (p2) {
                a[n] = 2;
            }
            __syncthreads();
        }
    } while (__syncthreads_or(p = p && a[0]));
}
`,
	},
	{
		name: "an assignment to a neighbour",
		in: "__global__ void k(float *a, int n) {\n    int t = threadIdx.x;\n    if (t < n - 1)\n    " +
			"    a[t] = a[t + 1];? // shift\n    a[t] += a[t ^ 1];?\n}\n",
		want: `__global__ void k(float *a, int n) {
    int t = threadIdx.x;
    float v = 0;
    if (t < n - 1) {
        v = a[t + 1];
    }
    __syncthreads();
    if (t < n - 1) {
        a[t] = v; // shift
    }
    float v2 = a[t] + a[t ^ 1];
    __syncthreads();
    a[t] = v2;
}
`,
	},
	{
		name: "assignments to volatile memory, one after another",
		in: `__device__ void k(volatile float *a, int t) {
    a[t] += a[t + 2];?
    a[t] += a[t + 1] * 2;? // last
}
`,
		want: `__device__ void k(volatile float *a, int t) {
    float v = a[t] + a[t + 2];
    __syncthreads();
    a[t] = v;
    v = a[t] + (a[t + 1] * 2);
    __syncthreads();
    a[t] = v; // last
}
`,
	},
	{
		name: "a branch in a branch",
		in: `__global__ void k(int *a, int n) {
    if (n) {
        if (a[0]) {
            a[1] = 1;^
            a[2] = 1;
        } else if (a[1]) {
            a[3] = 1;
        }
    }
}
`,
		want: `__global__ void k(int *a, int n) {
    const bool active = n && a[0];
    const bool other = n && !active;
    if (active) {
        a[1] = 1;
    }
    __syncthreads();
    if (active) {
        a[2] = 1;
    }
    if (other && a[1]) {
        a[3] = 1;
    }
}
`,
	},
	{
		name: "a barrier goes from a branch",
		in: "__global__ void k(int *a, int n) {\n    if (n)\n        __syncthreads();~\n    if " +
			"(a[0]) {\n        a[1] = 1;\n        __syncthreads();~ // no\n    }^\n}\n",
		want: "__global__ void k(int *a, int n) {\n    if (n)\n        ;\n    if (a[0]) {\n        " +
			"a[1] = 1;\n        // no\n    }\n    __syncthreads();\n}\n",
	},
}

// Where all threads reach the barriers, they are inserted and nothing else changes.
var plainRewriteTests = []struct{ in, want string }{
	{
		"__global__ void k(int *a, int n) {\n    for (int i = 0; i < n; i++)\n        a[i] = 1;^ // " +
			"each\n    a[0] = 1;\n}\n",
		"__global__ void k(int *a, int n) {\n    for (int i = 0; i < n; i++) {\n        a[i] = 1; // " +
			"each\n        __syncthreads();\n    }\n    a[0] = 1;\n}\n",
	},
	{
		"__global__ void k(int *a, int n)\n{\n\tif (n)\n\t\ta[0] = 1;^\n\telse if (a[1]) {\n\t\ta[2] = " +
			"1;^\n\t} // so\n}\n",
		"__global__ void k(int *a, int n)\n{\n\tif (n) {\n\t\ta[0] = " +
			"1;\n\t\t__syncthreads();\n\t}\n\telse if (a[1]) {\n\t\ta[2] = 1;\n\t\t__syncthreads();\n\t} " +
			"// so\n}\n",
	},
	{
		"__global__ void k(int *a, int n) { a[0] = 1;^ a[1] = 2;^ }\n",
		"__global__ void k(int *a, int n) { a[0] = 1;\n    __syncthreads();\n    a[1] = 2;\n    " +
			"__syncthreads();\n}\n",
	},
	{
		"__global__ void k(int *a, int n) {\n  while (n--) {\n    // first\n    { a[0] = 1;^ }\n    " +
			"__syncthreads();~ // gone\n    __syncthreads();~\n  }\n}\n",
		"__global__ void k(int *a, int n) {\n  while (n--) {\n    // first\n    { a[0] = 1;\n      " +
			"__syncthreads();\n    }\n    // gone\n  }\n}\n",
	},
}

func TestRewritePlain(t *testing.T) {
	for _, test := range plainRewriteTests {
		text, marks := rewriteMarks(test.in)
		marks.Uniform = func(int, int) bool { return true }
		got, err := rewrite(t, text, marks)
		if err != nil || got != test.want {
			t.Errorf("error %v, got\n%s\nwant\n%s", err, got, test.want)
		}
	}
}

func TestRewrite(t *testing.T) {
	for _, test := range rewriteTests {
		t.Run(test.name, func(t *testing.T) {
			text, marks := rewriteMarks(test.in)
			got, err := rewrite(t, text, marks)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			rewriteUnit(t, got) // it compiles
		})
	}
}

// Changes that cannot be made in the source are refused with a reason.
func TestRewriteRefuses(t *testing.T) {
	for _, test := range []struct{ in, why string }{
		{"__global__ void k(int *a, int n) {\n  switch (n) {\n  case 1:\n    a[1] = 1;\n    " +
			"__syncthreads();\n  default:\n    a[2] = 1;\n  }\n}\n", "switch"},
		{"__global__ void k(int *a, int n) {\n  if (n) goto out;\n  a[1] = 1;^\n  a[2] = 1;\nout:\n  " +
			"a[0] = 1;\n}\n", "goto"},
		{"__global__ void k(int *a, int n) {\n  if /* why */ (n) {\n    a[0] = 1;^\n    a[1] = 1;\n  " +
			"}\n}\n", "comment"},
		{"#define BOTH a[1] = 1; a[2] = 2;\n__global__ void k(int *a, int n) {\n  if (n) {\n    " +
			"BOTH^\n  }\n}\n", "plain text"},
		{"__global__ void k(int *a, int n) {\n  if (n) {\n    a[0] = 1;^\n#if 1\n    a[1] = " +
			"1;\n#endif\n  }\n}\n", "preprocessor"},
		{"__global__ void k(int *a, int n) {\n  if (n) {\n    int &r = a[0];\n    r = 1;^\n    r = " +
			"2;\n  }\n}\n", "cannot be declared"},
		{"__global__ void k(int *a, int n) {\n  int v = 1;\n  if (n) {\n    int v = a[0];^\n    a[1] = " +
			"v;\n  }\n  a[2] = v;\n}\n", "another variable"},
	} {
		text, marks := rewriteMarks(test.in)
		got, err := rewrite(t, text, marks)
		if err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s\nerror %v, want %q; got\n%s", test.in, err, test.why, got)
		}
	}
}

// rewriteMarks removes the marks from a text and returns the change that they request.
func rewriteMarks(s string) (string, *syntax.Rewrite) {
	rw := &syntax.Rewrite{}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '^' && i > 0 && (s[i-1] == ';' || s[i-1] == '}' || s[i-1] == 'H'):
			rw.Inserts = append(rw.Inserts,
				syntax.Insert{At: b.Len() - 1, After: true, Text: "__syncthreads();", Block: true})
		case c == '~' && s[i-1] == ';':
			rw.Drop = append(rw.Drop, b.Len()-1)
		case c == '?' && s[i-1] == ';':
			rw.Split = append(rw.Split, syntax.Insert{At: b.Len() - 1, Text: "__syncthreads();",
				Block: true})
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), rw
}

func rewriteUnit(t *testing.T, text string) *syntax.Unit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.cu")
	write(t, path, text)
	return read(t, source.NewSet(), lower.Input{Name: path}, lower.Options{})
}

func rewrite(t *testing.T, text string, rw *syntax.Rewrite) (string, error) {
	t.Helper()
	u := rewriteUnit(t, text)
	f := u.Funcs[0]
	edits, err := u.Rewrite(f, rw)
	if err != nil {
		return "", err
	}
	out, err := edit.Apply(f.File, edits)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), nil
}
