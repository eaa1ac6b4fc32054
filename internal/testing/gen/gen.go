// Package gen generates random kernels for tests, on which engines must agree.
//
// There are several kinds. Random covers the memory model: strong accesses, fences, named barriers.
// Flow covers reducible control flow. Phases covers what block barriers order; LoopState, Orders,
// Readback and Lanes stress one part of the prover each: registers changed by loops, orders other
// than block barriers, values passed through memory, and the masks of operations of a warp.
// Arrivals, Locks and Flags synchronize through memory, and OpenCL turns these into kernels whose
// fences order part of memory. Integers covers integer instructions, and Warps produces
// warp-specialized kernels of a given shape. LockStep exchanges words between lanes in loops that
// only lock step orders.
//
// A generator takes all its choices from a Source, so that a seed reproduces a kernel and a fuzzer
// can mutate one. Every kernel terminates or deadlocks: each loop counts to a bound.
package gen
