package ir

import "strings"

// AnnotationPrefix begins the names of the functions that heddle's headers declare.
const AnnotationPrefix = "__heddle_"

// Functions that annotations name by their prefix, as GPUVerify does.

// Specification reports whether a function has annotations in the place of a body: __spec_NAME.
func (f *Func) Specification() bool { return strings.HasPrefix(f.plainName(), "__spec_") }

// Uninterpreted reports whether a function is one of its arguments of which nothing else is known:
// __uninterpreted_function_NAME.
func (f *Func) Uninterpreted() bool {
	return f.Blocks == nil && strings.HasPrefix(f.plainName(), "__uninterpreted_function_")
}

// plainName is the name without namespaces and parameters.
func (f *Func) plainName() string {
	name, _, _ := strings.Cut(strings.ReplaceAll(f.Demangled, "(anonymous namespace)::", ""), "(")
	return name[strings.LastIndexAny(name, ": ")+1:]
}
