package fix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// The places of this repair are before the stores and in the head of the loop, which has none in
// the source. No proof exists, so that the search takes long.
const mergeRanks = `__global__ void mergeRanks(unsigned *keys) {
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = keys[base + t];
    s[t + 256] = keys[base + t + 256];
    for (unsigned half = 1; half < 512; half *= 2) {
        unsigned pos = t & (half - 1), at = 2 * (t - pos);
        unsigned a = s[at + pos], b = s[at + half + pos], ra = 0, rb = 0;
        for (unsigned d = half; d > 0; d >>= 1) {
            unsigned x = min(ra + d, half), y = min(rb + d, half);
            if (s[at + half + x - 1] < a)
                ra = x;
            if (s[at + y - 1] <= b)
                rb = y;
        }
        s[at + pos + ra] = a;
        s[at + pos + rb] = b;
    }
    keys[base + t] = s[t];
    keys[base + t + 256] = s[t + 256];
}

void sort(unsigned *keys) { mergeRanks<<<512, 256>>>(keys); }
`

// A place in the head of a loop becomes one statement in the loop and one outside, and the changes
// are those of the patch.
func TestPlaceInHead(t *testing.T) {
	if !long.All() {
		t.Skip("takes fifteen seconds")
	}
	path := filepath.Join(t.TempDir(), "k.cu")
	if err := os.WriteFile(path, []byte(mergeRanks), 0o644); err != nil {
		t.Fatal(err)
	}
	res := fixSource(t, path, Options{})
	within := 0 // in the loop, by their indentation
	for line := range strings.Lines(string(res.Patched)) {
		if line == "        __syncthreads();\n" {
			within++
		}
	}
	all := strings.Count(string(res.Patched), "__syncthreads")
	if within != 2 || all != 3 || len(res.Fixes[0].Changes) != all {
		t.Errorf("%d barriers, %d in the loop, changes %v\n%s", all, within, res.Fixes[0].Changes,
			res.Diff)
	}
}
