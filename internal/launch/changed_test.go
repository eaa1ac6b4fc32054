package launch

import (
	"slices"
	"testing"
)

// TestChangedVariables: the forms in which host code changes a variable of the device, and what is
// none of them. Those that pointers of the host code can point to have a & in front.
func TestChangedVariables(t *testing.T) {
	for text, want := range map[string][]string{
		"cudaMemcpyToSymbol(n, &m, sizeof(int));":                                   {"n"},
		"CHECK(cudaMemcpyToSymbolAsync(n, m, f(1, 2), 0, kind, s))":                 {"n"},
		"cudaMemcpyToSymbol<float>(table, m, 4);":                                   {"table"},
		"cudaMemcpyToSymbol(ns::table, m, 4);":                                      {"table"},
		"cudaGetSymbolAddress((void **)&p, n);":                                     {"&n"},
		"__managed__ int n;":                                                        {"&n"},
		"__device__ __managed__ unsigned n[4] = {1, 2}, m = f(1, 2), *p = nullptr;": {"&m", "&n", "&p"},
		"cudaMemcpyFromSymbol(&m, n, 4); cudaMemcpy(n, m, 4, kind);":                nil,
		"cudaMemcpyToSymbol(":                                                       nil,
		"cudaMemcpyToSymbol(n, ":                                                    nil,
		"__managed__":                                                               nil,
	} {
		var got []string
		for name, address := range changedVariables(scanAll([]byte(text), false)) {
			if address {
				name = "&" + name
			}
			got = append(got, name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
