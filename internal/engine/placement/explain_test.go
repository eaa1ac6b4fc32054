package placement_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/lower"
)

// explained are kernels of 64 threads with what each barrier is for, by line. The expectations
// follow from the kernels; since several threads and elements may be the example, its numbers are
// #.
var explained = []struct {
	name, text string
	want       map[int]string
}{
	{"iterations of one warp and of two", `// heddle: grid=2 block=64
__global__ void reduce(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int i = 32; i > 0; i /= 2) {
        if (t < i)
            s[t] += s[t + i];
        __syncthreads();
    }
    out[64 * blockIdx.x + t] = s[0];
}
`, map[int]string{
		// Threads 0 to 31 read what 32 to 63 wrote.
		7: "needed, 1 x 128: the write of `s[t]` in line 6 and the read of `s[t + i]` in line 10: in " +
			"block #, thread # writes `s[#]`, thread # reads it in iteration i = #",
		// From the second iteration on, only lanes of the first warp add; but the other warp may read
		// s[0] at the end.
		11: "needed, 6 x 128: the write of `s[t]` in line 10 and the read of `s[t + i]` in line 10: in " +
			"block #, thread # writes `s[#]` in iteration i = #, thread # reads it in iteration i = # " +
			"(one warp); the write of `s[t]` in line 10 and the read of `s[0]` in line 13: in block #, " +
			"thread # writes `s[#]` in iteration i = #, thread # reads it",
	}},
	{"alone, but not together", `// heddle: grid=1 block=64
__global__ void twice(int *a)
{
    int x = a[threadIdx.x + 1];
    __syncthreads();
    __syncthreads();
    a[threadIdx.x] = x;
    __syncthreads();
}
`, map[int]string{
		5: "redundant, 1 x 64: with in line 8 but not in line 6",
		6: "redundant, 1 x 64: but not in line 5",
		8: "redundant, 1 x 64: with in line 5",
	}},
	// The second barrier decides what the atomic operation reads, and no race tells.
	{"a value of an atomic operation", `// heddle: grid=1 block=64
__global__ void count(int *out)
{
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    atomicAdd(&n, 1);
    __syncthreads();
    if (threadIdx.x == 40)
        out[0] = atomicAdd(&n, 0);
}
`, map[int]string{
		// The other barrier separates the write from the second atomic operation.
		7: "needed, 1 x 64: the write of `n` in line 6 and the atomic operation of `atomicAdd(&n, 1)` " +
			"in line 8: thread # writes `n`, thread # updates it",
		9: "undecided, 1 x 64: proved race-free without it (all threads, all inputs for grid 1, block " +
			"64; races between blocks were not checked), but the kernel has atomic, volatile or relaxed " +
			"accesses, and the barrier may decide what they read",
	}},
	{"a volatile exchange", `// heddle: grid=1 block=64
__global__ void swap(int *out)
{
    __shared__ volatile int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
`, map[int]string{
		6: "needed, 1 x 64: strong the write of `s[threadIdx.x]` in line 5 and the read of " +
			"`s[63 - threadIdx.x]` in line 7: thread # writes `s[#]`, thread # reads it",
	}},
	// Blocks race for out[t], which no barrier of a block has anything to do with.
	{"a race between blocks", `// heddle: grid=2 block=64
__global__ void blocks(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t] + blockIdx.x;
}
`, map[int]string{
		7: "needed, 1 x 128: the write of `s[t]` in line 6 and the read of `s[63 - t]` in line 8: in " +
			"block #, thread # writes `s[#]`, thread # reads it",
	}},
	// Blocks race at the statements that threads of one block do, and only those are separated.
	{"a race between blocks and within them", `// heddle: grid=2 block=64
__global__ void both(int *a)
{
    int t = threadIdx.x;
    int x = a[63 - t];
    __syncthreads();
    a[t] = x;
}
`, map[int]string{
		6: "needed, 1 x 128: the read of `a[63 - t]` in line 5 and the write of `a[t]` in line 7: in " +
			"block #, thread # reads `a[#]`, thread # writes it",
	}},
	{"a helper of two kernels, a macro, and other barriers", `#define SYNC __syncthreads()
__shared__ int s[64];
__device__ int turn(int x)
{
    s[threadIdx.x] = x;
    __syncthreads();
    int y = s[63 - threadIdx.x];
    SYNC;
    return y;
}
// heddle: grid=1 block=64
__global__ void other(int *a) { a[threadIdx.x] = turn(1); }
// heddle: grid=1 block=64
__global__ void helped(int *a)
{
    a[threadIdx.x] = turn(1);
    s[threadIdx.x] = 2;
    __syncwarp();
    a[threadIdx.x] += s[threadIdx.x ^ 1];
    if (__syncthreads_or(a[threadIdx.x] > 3))
        a[threadIdx.x] = 0;
}
`, map[int]string{
		6: "needed, 1 x 64: the write of `s[threadIdx.x]` in line 5 and the read of " +
			"`s[63 - threadIdx.x]` in line 7: thread # writes `s[#]`, thread # reads it",
		8: "needed, 1 x 64: the read of `s[63 - threadIdx.x]` in line 7 and the write of " +
			"`s[threadIdx.x]` in line 17: thread # reads `s[#]`, thread # writes it",
		18: "needed, 1 x 64: the write of `s[threadIdx.x]` in line 17 and the read of " +
			"`s[threadIdx.x ^ 1]` in line 19: thread # writes `s[#]`, thread # reads it (one warp)",
		20: "undecided, 1 x 64: refused it has a result, so the kernel means something else without it",
	}},
	{"a template with two instances", `// heddle: grid=1 block=64
template <int N>
__global__ void shift(int *a)
{
    int x = a[threadIdx.x + N];
    __syncthreads();
    a[threadIdx.x] = x;
}
template __global__ void shift<1>(int *);
template __global__ void shift<2>(int *);
`, map[int]string{
		6: "needed, 1 x 128: the read of `a[threadIdx.x + N]` in line 5 and the write of " +
			"`a[threadIdx.x]` in line 7: thread # reads `a[#]`, thread # writes it",
	}},
	{"barriers that not all threads reach", `// heddle: grid=1 block=64
__global__ void uneven(int *a)
{
    if (threadIdx.x < 32)
        __syncthreads();
    a[threadIdx.x] = 1;
}
`, map[int]string{5: "undecided, 0.5 x 64: not all threads that it waits for reach it"}},
	// One barrier without the other leaves half of the threads waiting.
	{"barriers that threads reach apart", `// heddle: grid=1 block=64
__global__ void split(int *a)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    a[threadIdx.x] = 1;
}
`, map[int]string{
		5: "needed, 0.5 x 64: barrier divergence in block 0: 32 threads wait at `__syncthreads()`, and " +
			"32 have exited, at k.cu:7:9",
		7: "needed, 0.5 x 64: barrier divergence in block 0: 32 threads wait at `__syncthreads()`, and " +
			"32 have exited, at k.cu:5:9",
	}},
	{"named barriers", `// heddle: grid=1 block=64
__global__ void paired(int *a)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 1, 64;");
    a[threadIdx.x] = 1;
}
`, map[int]string{
		5: "undecided, 0.5 x 64: refused it is a named barrier, or one of some threads of the block " +
			"(heddle trace decides these)",
		7: "undecided, 0.5 x 64: refused it is a named barrier, or one of some threads of the block " +
			"(heddle trace decides these)",
	}},
}

// summary describes a use in one line.
func summary(u *placement.BarrierUse) string {
	out := fmt.Sprintf("%v, %.3g x %d: ", u.Need, u.Reached.PerThread, u.Reached.Threads)
	var parts []string
	for i := range u.Pairs {
		p := &u.Pairs[i]
		strong := ""
		if p.Strong {
			strong = "strong "
		}
		parts = append(parts, strong+p.Text()+": "+number.ReplaceAllString(p.Example(), "#")+p.Proof)
	}
	parts = append(parts, u.Changes...)
	out += strings.Join(parts, "; ")
	if u.Refused {
		out += "refused "
	}
	out += u.Why
	if len(u.Together) > 0 {
		out += "with " + strings.Join(u.Together, ", ") + " "
	}
	for _, others := range u.Apart {
		out += "but not " + strings.Join(others, " and ") + " "
	}
	return strings.TrimSpace(out)
}

// number matches the numbers of an example.
var number = regexp.MustCompile(`\b[0-9]+\b`)

// TestExplain explains the barriers that stand, all at once and each alone as an editor does. Both
// say the same, but for what is redundant together.
func TestExplain(t *testing.T) {
	for _, c := range explained {
		t.Run(c.name, func(t *testing.T) {
			opt := placement.Options{VerifyOnly: true, Explain: true, Unverified: true}
			in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(c.text)}}
			res, err := placement.File(t.Context(), opt, in,
				func(d diag.Diagnostic) { t.Error(d.Message) })
			if err != nil {
				t.Fatal(err)
			}
			last := &res.Kernels[len(res.Kernels)-1]
			if len(last.Barriers) != len(c.want) {
				t.Errorf("%d barriers, want %d: %+v", len(last.Barriers), len(c.want), last)
			}
			for i := range last.Barriers {
				b := &last.Barriers[i]
				line := b.At.Line()
				got := summary(b.Use)
				if want := c.want[line]; got != want {
					t.Errorf("line %d:\n%s\nwant\n%s", line, got, want)
				}
				one := useAt(t, "k.cu", c.text, line)
				if one == nil || one.Need != b.Use.Need && one.Need != placement.BarrierNeeded {
					t.Errorf("line %d, alone: %+v", line, one)
				}
			}
		})
	}
}
