package main

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// The launches of the suites are intended for tools that do not execute them; some have a million
// threads. Runs use at most maxBlocks blocks of maxThreads threads: the largest dimension is
// divided by its smallest prime factor until the product is small enough. Powers of two thus remain
// powers of two, and most divisors of a dimension remain divisors.
const (
	maxBlocks  = 4
	maxThreads = 64
)

// scaleDown returns d with a product of at most limit. Dimensions of 1 remain 1.
func scaleDown(d event.Dim3, limit uint64) event.Dim3 {
	for d.Count() > limit {
		// Reducing the largest dimension keeps the shape as square as it was.
		largest := &d.X
		if d.Y > *largest {
			largest = &d.Y
		}
		if d.Z > *largest {
			largest = &d.Z
		}
		*largest /= smallestFactor(*largest)
	}
	return d
}

// smallestFactor returns the smallest prime factor of n > 1. For a large prime it returns the
// divisor that leaves 2.
func smallestFactor(n uint32) uint32 {
	for f := uint32(2); f*f <= n; f++ {
		if n%f == 0 {
			return f
		}
	}
	if n > 3 {
		return (n + 1) / 2
	}
	return n
}

// anySize replaces a size that a suite leaves open with "*": two warps, so that races between warps
// are possible.
const anySize = 64

// parseDims parses "64", "[8,8]", "8,8" and "*", the notations of GPUVerify's flags. Missing
// dimensions are 1; zero is rejected.
func parseDims(s string) (event.Dim3, error) {
	d := [3]uint32{1, 1, 1}
	parts := strings.Split(strings.Trim(s, "[]"), ",")
	if len(parts) > 3 {
		return event.Dim3{}, fmt.Errorf("%q has %d dimensions; at most 3 are allowed", s, len(parts))
	}
	for i, p := range parts {
		if strings.TrimSpace(p) == "*" {
			d[i] = anySize
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil || n == 0 {
			return event.Dim3{}, fmt.Errorf("%q is not a size; expected a positive integer or *", s)
		}
		d[i] = uint32(n)
	}
	return event.Dim3{X: d[0], Y: d[1], Z: d[2]}, nil
}
