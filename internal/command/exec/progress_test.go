package exec_test

import (
	"sync"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/testing/program"
)

// progressProgram waits for 20 launches, of which none is so short that it ends before the program
// waits for all of them.
const progressProgram = `
__global__ void busy(int *p, int n) {
  for (int i = 0; i < n; i++) p[threadIdx.x] += i;
}
int main() {
  int *p;
  cudaMalloc(&p, 128);
  for (int i = 0; i < 20; i++) busy<<<1, 32>>>(p, 20000);
  return cudaDeviceSynchronize();
}
`

// TestProgress: while the program waits, the caller is told how far launches are, and before the
// program goes on, that it does.
func TestProgress(t *testing.T) {
	var mu sync.Mutex
	var seen []exec.Progress
	going := true
	got := start(t, []string{program.OfText(t, progressProgram)}, func(o *exec.Options) {
		o.Progress = func(p *exec.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if going = p == nil; !going {
				seen = append(seen, *p)
			}
		}
	})
	if got.Exit() != 0 || len(seen) == 0 || !going {
		t.Fatalf("exit code %d, %d reports, the program goes on: %v", got.Exit(), len(seen), going)
	}
	if p := seen[len(seen)-1]; p.Launch != 20 || p.Kernel != "busy(int*, int)" || p.Blocks != 1 ||
		p.Steps == 0 {
		t.Errorf("the last report is %+v", p)
	}
}
