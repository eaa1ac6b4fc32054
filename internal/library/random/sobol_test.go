package random

import (
	"slices"
	"strings"
	"testing"
)

// TestSobol: each number differs from the last one by the direction vector of the lowest bit that
// is 0 in the position, as in the construction by Antonov and Saleev.
func TestSobol(t *testing.T) {
	const n = 4096
	narrow, wide := make([]uint32, n), make([]uint64, n)
	for _, err := range []error{Sobol32(narrow, 1, 0), Sobol64(wide, 1, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	x := uint64(0)
	for i := range n {
		if wide[i] != x || narrow[i] != uint32(x>>32) {
			t.Fatalf("number %d is %#x and %#x, want %#x", i, narrow[i], wide[i], x)
		}
		zero := 0
		for i>>zero&1 == 1 {
			zero++
		}
		x ^= 1 << 63 >> zero
	}
}

// TestSobolParts: a sequence that is generated in parts is the same as one that is generated at
// once, and the one of 32 bits repeats itself.
func TestSobolParts(t *testing.T) {
	const n, part = 9, 4
	for _, offset := range []uint64{0, 5, 1<<32 - 3, 1 << 40} {
		narrow, narrowParts, repeated := make([]uint32, n), make([]uint32, n), make([]uint32, n)
		wide, wideParts := make([]uint64, n), make([]uint64, n)
		for _, err := range []error{
			Sobol32(narrow, 1, offset),
			Sobol32(narrowParts[:part], 1, offset),
			Sobol32(narrowParts[part:], 1, offset+part),
			Sobol32(repeated, 1, offset+1<<32),
			Sobol64(wide, 1, offset),
			Sobol64(wideParts[:part], 1, offset),
			Sobol64(wideParts[part:], 1, offset+part),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(narrow, narrowParts) || !slices.Equal(narrow, repeated) {
			t.Errorf("offset %d: in parts %x, after all 32-bit numbers %x, want %x", offset, narrowParts,
				repeated, narrow)
		}
		if !slices.Equal(wide, wideParts) {
			t.Errorf("offset %d: in parts %x, want %x", offset, wideParts, wide)
		}
	}
}

func TestSobolDimensions(t *testing.T) {
	for _, n := range []int{-1, 0, 2, 20000} {
		for _, err := range []error{Sobol32(nil, n, 0), Sobol64(nil, n, 0)} {
			if err == nil || !strings.Contains(err.Error(), "only 1 is supported") {
				t.Errorf("%d dimensions: %v", n, err)
			}
		}
	}
}
