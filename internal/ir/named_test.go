package ir

import "testing"

// The name alone counts, not what stands around it.
func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"__spec_f":                          true,
		"__spec_f(int*)":                    true,
		"a::b::__spec_f(void (*)(int))":     true,
		"(anonymous namespace)::__spec_f()": true,
		"void __spec_f<int>(int)":           true,
		"f":                                 false,
		"f__spec_f()":                       false,
		"__spec_::f(int)":                   false,
		"f(__spec_t)":                       false,
		"":                                  false,
	} {
		if got := (&Func{Demangled: name}).Specification(); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	f := &Func{Demangled: "__uninterpreted_function_f(int)"}
	if !f.Uninterpreted() {
		t.Error("a function without a body")
	}
	if f.Blocks = []*Block{{}}; f.Uninterpreted() {
		t.Error("a function with a body is what it does")
	}
}
