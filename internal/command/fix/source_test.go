package fix

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// fixSource repairs a file in the source.
func fixSource(t *testing.T, path string, fix Options) *Result {
	t.Helper()
	fix.Source = true
	fix.Common = driver.Options{Files: source.NewSet(), Limit: 20}
	res, err := File(context.Background(), fix, driver.Input{Input: lower.Input{Name: path}}, func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			t.Errorf("%s: %s", path, d.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// applies holds what git and patch make of the diff against the patched text.
func applies(t *testing.T, name string, old []byte, res *Result) {
	t.Helper()
	_, rest, _ := strings.Cut(res.Diff, "\n")
	_, rest, _ = strings.Cut(rest, "\n")
	diff := "--- a/" + name + "\n+++ b/" + name + "\n" + rest
	for _, tool := range [][]string{{"patch", "-p1", "--binary"}, {"git", "apply"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			continue
		}
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, old, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(tool[0], tool[1:]...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s\n%s", tool, err, out, diff)
			continue
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, res.Patched) {
			t.Errorf("%v gives\n%s\nwant\n%s", tool, got, res.Patched)
		}
	}
}

// Kernels as people format them; the repair must keep the format. keep are texts that the patched
// source must still have, add those that it gains.
var sourceFixes = []struct {
	name, file, in string
	add, keep      []string
	only           string // it is in the PTX only, for a reason that says this
}{
	{
		name: "tabs, CRLF, and comments", file: "k.cu",
		in:   "// heddle: grid=1 block=64 n=40\r\n__global__ void k(const int *in, int *out, int n)\r\n{\r\n\t__shared__ int s[64];\r\n\tint t = threadIdx.x;\r\n\tif (t < n) // only these\r\n\t{\r\n\t\ts[t] = in[t]; /* put */\r\n\t\t__syncthreads();\r\n\t\t// and take\r\n\t\tout[t] = s[(t + 1) % n];\r\n\t}\r\n}\r\n",
		add:  []string{"\t}\r\n\t__syncthreads();\r\n\tif (t < n)\r\n\t{\r\n", "\r\n\t__syncthreads();\r\n"},
		keep: []string{"\tif (t < n) // only these\r\n\t{\r\n\t\ts[t] = in[t]; /* put */\r\n", "\t\t// and take\r\n\t\tout[t] = s[(t + 1) % n];\r\n"},
	},
	{
		name: "OpenCL C", file: "k.cl",
		in:   "// heddle: grid=1 block=64\nkernel void k(global int *in, global int *out) {\n    local int s[64];\n    int t = get_local_id(0);\n    s[t] = in[t];\n    if (t < 40)\n        out[t] = s[t + 1];\n}\n",
		add:  []string{"    s[t] = in[t];\n    barrier(CLK_"},
		keep: []string{"    if (t < 40)\n        out[t] = s[t + 1];\n"},
	},
	{
		name: "one statement of lanes of a warp", file: "k.cu",
		in:  "// heddle: grid=1 block=32\n__global__ void k(int *a) {\n    int t = threadIdx.x;\n    a[t] = a[t + 1]; // move\n}\n",
		add: []string{"    int v = a[t + 1];\n    __syncwarp();\n    a[t] = v; // move\n"},
	},
	{
		name: "fences that order the threads of a block only", file: "k.cu",
		in:  "// heddle: grid=2 block=1\n__global__ void k(int *data, int *flag, int *out) {\n    if (blockIdx.x == 0) {\n        data[0] = 42;\n        __threadfence_block();\n        atomicExch(flag, 1);\n    } else if (atomicAdd(flag, 0) == 1) {\n        __threadfence_block();\n        out[0] = data[0];\n    }\n}\n",
		add: []string{"        __threadfence();\n        atomicExch", "        __threadfence();\n        out[0]"},
	},
	{
		name: "a flag without fences", file: "k.cu",
		in:  "// heddle: grid=2 block=1\n__global__ void k(int *data, int *flag, int *out) {\n    if (blockIdx.x == 0) {\n        data[0] = 42;\n        atomicExch(flag, 1);\n    } else {\n        if (atomicAdd(flag, 0) == 1)\n            out[0] = data[0];\n    }\n}\n",
		add: []string{"        data[0] = 42;\n        __threadfence();\n        atomicExch", "== 1) {\n            __threadfence();\n            out[0] = data[0];\n        }\n"},
	},
	{
		name: "a barrier behind a loop, not in it", file: "k.cu",
		in:   "// heddle: grid=1 block=64 n=3\n__global__ void k(int *a, int n) {\n    __shared__ int s[64];\n    int t = threadIdx.x;\n    for (int k = 0; k < n; k++) {\n        s[t] = a[t] + k;\n        __syncthreads();\n        int sum = 0;\n        for (int i = 0; i < 64; i++)\n            sum += s[i];\n        a[t] = sum;\n    }\n}\n",
		keep: []string{"        for (int i = 0; i < 64; i++)\n            sum += s[i];\n"},
	},
	{
		name: "a macro makes the statement that must be divided", file: "k.cu",
		in:   "#define MOVE(a, i) if (i < 63) a[i] = a[i + 1]\n// heddle: grid=1 block=64\n__global__ void k(int *a) {\n    MOVE(a, threadIdx.x);\n}\n",
		only: "not plain text",
	},
	{
		name: "a loop that some threads leave before others", file: "k.cu",
		in:   "// heddle: grid=1 block=64\n__global__ void k(const int *in, int *out) {\n  __shared__ int s[64];\n  int t = threadIdx.x, sum = 0;\n  s[t] = 0;\n  __syncthreads();\n  int i = t;\n  while (i < 100) {\n    s[t] = in[i];\n    __syncthreads(); // wait\n    sum += s[t ^ 1];\n    __syncthreads();\n    i += 64;\n  }\n  out[t] = sum;\n}\n",
		add:  []string{"  bool p = true;\n  while (__syncthreads_or(p = p && i < 100)) {\n    if (p) {\n      s[t] = in[i];\n    }\n    __syncthreads(); // wait\n"},
		keep: []string{"      i += 64;\n    }\n  }\n  out[t] = sum;\n"},
	},
}

func TestFixSourceForms(t *testing.T) {
	for _, test := range sourceFixes {
		t.Run(test.name, func(t *testing.T) {
			long.Sample(t, 3)
			path := filepath.Join(t.TempDir(), test.file)
			if err := os.WriteFile(path, []byte(test.in), 0o644); err != nil {
				t.Fatal(err)
			}
			res := fixSource(t, path, Options{})
			f := &res.Fixes[0]
			if f.Status != Repaired {
				t.Fatalf("%v: %s", f.Status, f.Why)
			}
			if test.only != "" {
				if !strings.Contains(f.PTXOnly, test.only) || res.Diff != "" {
					t.Errorf("in the PTX only because %q, want %q\n%s", f.PTXOnly, test.only, res.Diff)
				}
				return
			}
			const want = diag.Verified
			if f.Source.Kind != want || f.Compiled != 1 || len(f.Wrong) == 0 || len(f.Wrong[0].Fixes) == 0 {
				t.Errorf("the patched source is %v (%s); %d were compiled, want 1",
					f.Source.Kind, f.PTXOnly, f.Compiled)
			}
			for _, want := range append(test.add, test.keep...) {
				if !strings.Contains(string(res.Patched), want) {
					t.Errorf("no %q in\n%s", want, res.Patched)
				}
			}
			applies(t, test.file, []byte(test.in), res)
			if err := os.WriteFile(path, res.Patched, 0o644); err != nil {
				t.Fatal(err)
			}
			again := fixSource(t, path, Options{})
			if f := &again.Fixes[0]; f.Status != NothingToFix || f.After.Kind != want {
				t.Errorf("the patched source is %v, %v", f.Status, f.After.Kind)
			}
		})
	}
}

// What a repair of the source may leave to the PTX, of testdata/fix.
var onlyPTX = map[string]string{
	"divergent_call":     "the barrier is in a function that only some threads call",
	"two_branches":       "threads of both branches must wait at one barrier, which belongs to neither branch",
	"lock_plain_release": "the plain store must become a strong one",
	"left":               "the address of the tensor memory has no name that heddle knows",
}

// Each broken kernel of testdata/fix is repaired in the source, and computes what its reference
// does.
func TestFixSource(t *testing.T) {
	if !long.All() {
		t.Skip("takes minutes; HEDDLE_LONG=1 runs it")
	}
	files, err := filepath.Glob("../../../testdata/fix/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { fixedSource(t, path) })
	}
}

// fixedSource repairs a file and runs its kernels.
func fixedSource(t *testing.T, path string) {
	res := fixSource(t, path, Options{})
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	applies(t, filepath.Base(path), old, res)
	mod, facts := moduleOf(t, filepath.Base(path), res.Patched)
	for i, w := range readWanted(t, path) {
		f := &res.Fixes[i]
		if f.Status != Repaired {
			continue
		}
		why, only := onlyPTX[w.kernel]
		t.Logf("%s: %v; source %v %s; %v", w.kernel, f.After.Kind, f.Source.Kind, f.PTXOnly, f.Total)
		switch {
		case only && f.PTXOnly == "":
			t.Errorf("%s is repaired in the source, although %s", w.kernel, why)
		case only:
			continue
		case f.PTXOnly != "" || f.Source.Kind != diag.Verified && f.Source.Kind != diag.Clean ||
			f.After.Kind == diag.Verified && f.Source.Kind != diag.Verified:
			t.Errorf("%s: %v in the PTX, %v in the source: %s",
				w.kernel, f.After.Kind, f.Source.Kind, f.PTXOnly)
			continue
		}
		for seed := range uint64(20) {
			for more := -1; more <= 1 && w.ref; more++ {
				a := memoryOf(t, kernelOf(mod, w.kernel), facts, seed+1, seed, more)
				b := memoryOf(t, kernelOf(mod, w.kernel+"_ref"), facts, seed+1, seed, more)
				if !bytes.Equal(a, b) {
					t.Errorf("%s: contents %d, schedule %d, size %+d: another result than the reference",
						w.kernel, seed+1, seed, more)
				}
			}
		}
	}
}
