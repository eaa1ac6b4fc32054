// Package gen generates kernels for tests: random ones, which engines must agree on.
package gen
