package launch

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// andZeros ends the bytes of a buffer that goes on with zeros, without a bound.
const andZeros = "..."

// mostHexBytes bounds what hex: may ask for with counts.
const mostHexBytes = 1 << 28

// HexBytes writes bytes for hex:, in the order of memory: two hexadecimal digits for each, and one byte, x and a count
// for many that are the same. Parts stand apart by commas: "00x384,07,00x3".
func HexBytes(b []byte) string {
	const worthwhile = 8
	var parts []string
	plain := 0 // from here nothing is written
	for i := 0; i < len(b); {
		j := i + 1
		for j < len(b) && b[j] == b[i] {
			j++
		}
		if j-i >= worthwhile {
			if plain < i {
				parts = append(parts, hex.EncodeToString(b[plain:i]))
			}
			parts = append(parts, fmt.Sprintf("%02xx%d", b[i], j-i))
			plain = j
		}
		i = j
	}
	if plain < len(b) {
		parts = append(parts, hex.EncodeToString(b[plain:]))
	}
	return strings.Join(parts, ",")
}

// parseHexBytes is the inverse of HexBytes. It wants at least one byte and at most mostHexBytes.
func parseHexBytes(s string) ([]byte, error) {
	var out []byte
	for part := range strings.SplitSeq(s, ",") {
		digits, count, repeated := strings.Cut(part, "x")
		b, err := hex.DecodeString(digits)
		if err != nil || len(b) == 0 || repeated && len(b) != 1 {
			return nil, fmt.Errorf("%q: want two hexadecimal digits for each byte, or one byte, x and how often", part)
		}
		if repeated {
			n, err := strconv.ParseUint(count, 10, 32)
			if err != nil || n == 0 || uint64(len(out))+n > mostHexBytes {
				return nil, fmt.Errorf("%q: want a count after x, from 1, and at most %d bytes in all", part, mostHexBytes)
			}
			b = bytes.Repeat(b, int(n))
		}
		out = append(out, b...)
	}
	return out, nil
}
