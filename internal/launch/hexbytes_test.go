package launch

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHexBytes(t *testing.T) {
	for _, test := range []struct {
		bytes []byte
		want  string
	}{
		{[]byte{0}, "00"},
		{[]byte{0xff, 0x07}, "ff07"},
		{make([]byte, 7), "00000000000000"}, // too few to count
		{make([]byte, 8), "00x8"},
		{append(make([]byte, 384), 7), "00x384,07"},
		{append([]byte{1, 2}, bytes.Repeat([]byte{2}, 9)...), "01,02x10"},
	} {
		if got := HexBytes(test.bytes); got != test.want {
			t.Errorf("HexBytes(%x) = %s, want %s", test.bytes, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			b = append(b, bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 3).Draw(t, "part"),
				rapid.IntRange(1, 20).Draw(t, "times"))...)
		}
		if back, err := parseHexBytes(HexBytes(b)); err != nil || !bytes.Equal(back, b) {
			t.Fatalf("%x is written as %s and read as %x, %v", b, HexBytes(b), back, err)
		}
	})
}

func TestHexBytesMistakes(t *testing.T) {
	for s, want := range map[string]string{
		"": "two hexadecimal digits", "0": "two hexadecimal digits", "0g": "two hexadecimal digits",
		"00,":    "two hexadecimal digits",
		"0011x4": "or one byte, x and a count", "x4": "or one byte, x and a count",
		"00x": "expected a count of at least 1", "00x0": "expected a count of at least 1",
		"00x-1": "expected a count of at least 1", "00x99999999999": "at most",
		"00x268435456,00x1": "at most",
	} {
		if _, err := parseHexBytes(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
}
