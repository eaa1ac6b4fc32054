package main

import (
	"strings"
	"testing"
)

// The scopes are those of the CUDA C++ Programming Guide: _block, none for the device, _system.
func TestOperationText(t *testing.T) {
	for word, want := range map[string]string{
		"__threadfence": "threads of the GPU,", "__threadfence_block": "threads of its block,",
		"__threadfence_system": "the host", "atomicAdd": "operation of the GPU can",
		"atomicCAS_block": "operation of its block can", "__syncwarp": "all 32",
		"__shfl_down_sync": "no access to memory", "__ballot_sync": "no access to memory",
		"__syncthreads": "", "atomicAddition": "", "my__threadfence": "", "__shfl_sync_2": "", "": "",
	} {
		if got := operationText(word); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
