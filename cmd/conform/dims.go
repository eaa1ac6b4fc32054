package main

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// The launches of a suite are made for tools that do not execute them: a million threads is one. A run is
// made smaller, to at most maxBlocks blocks of maxThreads threads, by dividing the largest dimension by its
// smallest prime factor until the product is small enough: what divided the size still does unless it was
// divided away, and a power of two stays one.
const (
	maxBlocks  = 4
	maxThreads = 64
)

// scaleDown returns d with a product of at most limit.
func scaleDown(d event.Dim3, limit uint64) event.Dim3 {
	for d.Count() > limit {
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

// smallestFactor returns the smallest prime factor of n > 1; of a large prime, what makes it 2.
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

// anySize stands for a size that a suite leaves open, "*".
const anySize = 64

// parseDims reads "64", "[8,8]", "8,8" and "*".
func parseDims(s string) (event.Dim3, error) {
	d := [3]uint32{1, 1, 1}
	parts := strings.Split(strings.Trim(s, "[]"), ",")
	if len(parts) > 3 {
		return event.Dim3{}, fmt.Errorf("%q has %d dimensions", s, len(parts))
	}
	for i, p := range parts {
		if strings.TrimSpace(p) == "*" {
			d[i] = anySize
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil || n == 0 {
			return event.Dim3{}, fmt.Errorf("%q is no size", s)
		}
		d[i] = uint32(n)
	}
	return event.Dim3{X: d[0], Y: d[1], Z: d[2]}, nil
}
