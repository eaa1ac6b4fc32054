package launch

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// andZeros ends the hexadecimal digits of an unbounded buffer whose other bytes are zero.
const andZeros = "..."

// mostHexBytes bounds the bytes of one hex: value, since a count of a few digits can ask for
// gigabytes.
const mostHexBytes = 1 << 28

// HexBytes formats bytes for hex: in memory order: two hexadecimal digits per byte, and for a run
// of equal bytes the byte, "x" and a count. Commas separate the parts: "00x384,07,00x3".
func HexBytes(b []byte) string {
	const worthwhile = 8 // shorter runs are written as digits
	var parts []string
	plain := 0 // bytes from here to i are not written yet
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

// parseHexBytes is the inverse of HexBytes. It accepts 1 to mostHexBytes bytes, and fails for an
// odd number of digits, a count of 0, or a count after more than one byte.
func parseHexBytes(s string) ([]byte, error) {
	var out []byte
	for part := range strings.SplitSeq(s, ",") {
		digits, count, repeated := strings.Cut(part, "x")
		b, err := hex.DecodeString(digits)
		if err != nil || len(b) == 0 || repeated && len(b) != 1 {
			return nil, fmt.Errorf("%q: expected two hexadecimal digits per byte, such as 00ff, or one "+
				"byte, x and a count, such as 00x16", part)
		}
		if repeated {
			n, err := strconv.ParseUint(count, 10, 32)
			if err != nil || n == 0 || uint64(len(out))+n > mostHexBytes {
				return nil, fmt.Errorf("%q: expected a count of at least 1 after x, and at most %d bytes in "+
					"total", part, mostHexBytes)
			}
			b = bytes.Repeat(b, int(n))
		}
		out = append(out, b...)
	}
	return out, nil
}
