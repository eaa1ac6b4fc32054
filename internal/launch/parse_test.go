package launch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/event"
	"heddle/internal/isa"
)

func TestParseDim(t *testing.T) {
	good := map[string]event.Dim3{
		"256": {X: 256, Y: 1, Z: 1}, "4,2": {X: 4, Y: 2, Z: 1}, "4, 2, 3": {X: 4, Y: 2, Z: 3},
		"16x8": {X: 16, Y: 8, Z: 1}, "0x10": {X: 16, Y: 1, Z: 1}, "0x10,2": {X: 16, Y: 2, Z: 1},
	}
	for s, want := range good {
		if got, err := ParseDim(s); err != nil || got != want {
			t.Errorf("ParseDim(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	bad := map[string]string{
		"": "missing", "0": "at least 1", "4,0": "at least 1", "-1": "negative", "1,2,3,4": "at most 3",
		"a": "not a number", "4,": "missing", "4294967296": "too large", "4;2": "not a number",
		"1.5": "not a number", "4,*": "only heddle verify",
	}
	for s, want := range bad {
		if got, err := ParseDim(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDim(%q) = %v, %v; want an error with %q", s, got, err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	good := map[string]uint64{
		"0": 0, "1024": 1024, "48K": 48 << 10, "48k": 48 << 10, "48KiB": 48 << 10, "48KB": 48 << 10,
		"2M":   2 << 20,
		"1GiB": 1 << 30, "0x400": 1024, "0x4B": 0x4B, "12B": 12,
	}
	for s, want := range good {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "K", "-1", "1.5K", "1T", "17179869184G", "99999999999999999999"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		}
	}
}

func TestParseArg(t *testing.T) {
	tests := map[string]ArgSpec{
		"n=1024":       {Param: "n", Offset: -1, Kind: ArgValue, Text: "1024"},
		"n = -1":       {Param: "n", Offset: -1, Kind: ArgValue, Text: "-1"},
		"x=1.5e-3":     {Param: "x", Offset: -1, Kind: ArgValue, Text: "1.5e-3"},
		"b=true":       {Param: "b", Offset: -1, Kind: ArgValue, Text: "1"},
		"p=null":       {Param: "p", Offset: -1, Kind: ArgValue, Text: "0"},
		"in=random":    {Param: "in", Offset: -1, Kind: ArgBuffer, Fill: FillRandom},
		"in=random:4K": {Param: "in", Offset: -1, Kind: ArgBuffer, Fill: FillRandom, Size: 4096},
		"in=random@7:16": {Param: "in", Offset: -1, Kind: ArgBuffer, Fill: FillRandom, Size: 16,
			Seed: 7},
		"out=zero": {Param: "out", Offset: -1, Kind: ArgBuffer, Fill: FillZero},
		"0=iota":   {Param: "0", Offset: -1, Kind: ArgBuffer, Fill: FillIota},
		"m=value:-1:64": {Param: "m", Offset: -1, Kind: ArgBuffer, Fill: FillValue,
			Value: 0xffffffff, Size: 64},
		"c=small:10": {Param: "c", Offset: -1, Kind: ArgBuffer, Fill: FillSmall, N: 10},
		"c=small:10,7:4K": {Param: "c", Offset: -1, Kind: ArgBuffer, Fill: FillSmall, N: 10, Seed: 7,
			Size: 4096},
		"c=u64:small:10+8": {Param: "c", Offset: -1, Kind: ArgBuffer, Fill: FillSmall, N: 10, Elem: 8,
			At: 8},
		"o=oneof:0,3": {Param: "o", Offset: -1, Kind: ArgBuffer, Fill: FillOneOf, Text: "0,3"},
		"o=u8:oneof@7:0,-1:64+1": {Param: "o", Offset: -1, Kind: ArgBuffer, Fill: FillOneOf, Text: "0,-1",
			Seed: 7, Elem: 1, Size: 64, At: 1},
		"p=perm:0x10":     {Param: "p", Offset: -1, Kind: ArgBuffer, Fill: FillPerm, N: 16},
		"r=csr:10,40":     {Param: "r", Offset: -1, Kind: ArgBuffer, Fill: FillCSR, N: 10, E: 40},
		"r=s16:csr:1,0,3": {Param: "r", Offset: -1, Kind: ArgBuffer, Fill: FillCSR, N: 1, Seed: 3, Elem: 2},
		"i=ints:0,-3,0x5": {Param: "i", Offset: -1, Kind: ArgBuffer, Fill: FillInts, Text: "0,-3,0x5"},
		"i=ints:1:64":     {Param: "i", Offset: -1, Kind: ArgBuffer, Fill: FillInts, Text: "1", Size: 64},
		"i=u8:ints:1...":  {Param: "i", Offset: -1, Kind: ArgBuffer, Fill: FillInts, Text: "1...", Elem: 1},
		"i=u8:iota:16":    {Param: "i", Offset: -1, Kind: ArgBuffer, Fill: FillIota, Elem: 1, Size: 16},
		"n=struct:16{0=iota,4=small:10,7,8=f64:0.5}": {Param: "n", Offset: -1, Kind: ArgBuffer,
			Fill: FillStruct, N: 16, Text: "0=iota,4=small:10,7,8=f64:0.5"},
		"n=struct:8{0x4=-1}:64+8": {Param: "n", Offset: -1, Kind: ArgBuffer,
			Fill: FillStruct, N: 8, Text: "4=-1", Size: 64, At: 8},
		"w=file:a:b.bin":       {Param: "w", Offset: -1, Kind: ArgFile, Text: "a:b.bin"},
		"w=file:a.bin:4K":      {Param: "w", Offset: -1, Kind: ArgFile, Text: "a.bin", Size: 4096},
		"b=alias:a":            {Param: "b", Offset: -1, Kind: ArgAlias, Text: "a"},
		"b=alias:a+4":          {Param: "b", Offset: -1, Kind: ArgAlias, Text: "a", At: 4},
		"s+8=alias:a+1K":       {Param: "s", Offset: 8, Kind: ArgAlias, Text: "a", At: 1024},
		"in=zero+16":           {Param: "in", Offset: -1, Kind: ArgBuffer, At: 16},
		"in=unknown:64+8":      {Param: "in", Offset: -1, Kind: ArgUnknown, Size: 64, At: 8},
		"in=hex:00ff...+1":     {Param: "in", Offset: -1, Kind: ArgBytes, Text: "00ff...", At: 1},
		"w=file:a.bin:4K+8":    {Param: "w", Offset: -1, Kind: ArgFile, Text: "a.bin", Size: 4096, At: 8},
		"w=file:a+4":           {Param: "w", Offset: -1, Kind: ArgFile, Text: "a+4"}, // part of the path
		"m=value:+5":           {Param: "m", Offset: -1, Kind: ArgBuffer, Fill: FillValue, Value: 5},
		"in=unknown":           {Param: "in", Offset: -1, Kind: ArgUnknown},
		"s=hex:00fF":           {Param: "s", Offset: -1, Kind: ArgBytes, Text: "00fF"},
		"s+8=random":           {Param: "s", Offset: 8, Kind: ArgBuffer, Fill: FillRandom},
		"s+0x10=u32:7":         {Param: "s", Offset: 16, Kind: ArgValue, Text: "u32:7"},
		"s+0=f32:1.5":          {Param: "s", Offset: 0, Kind: ArgValue, Text: "f32:1.5"},
		"n=0xffffffffffffffff": {Param: "n", Offset: -1, Kind: ArgValue, Text: "0xffffffffffffffff"},
	}
	for s, want := range tests {
		got, err := ParseArg(s)
		if err != nil {
			t.Errorf("ParseArg(%q): %v", s, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("ParseArg(%q): %s", s, d)
		}
		again, err := ParseArg(got.String())
		if err != nil || cmp.Diff(got, again) != "" {
			t.Errorf("%q prints as %q, which reads as %+v, %v", s, got.String(), again, err)
		}
	}
}

func TestParseArgErrors(t *testing.T) {
	tests := map[string]string{
		"n": "lacks '='", "=4": "names no parameter", "n=": "no value", "n=foo": "is not a value",
		"n=i32:4":    "is not a value",
		"in=random:": "missing", "in=random:0": "0 bytes", "in=random:x": "not a number",
		"in=zero@4": "only random",
		"m=value":   "value:N", "m=value:4294967296": "32 bits", "w=file:": "has no path",
		"b=alias:": "alias:PARAM", "b=alias:a+x": "alias:PARAM+BYTES", "b=alias:a+-4": "+BYTES",
		"in=random+x": "is not a value", "in=zero:4+2T": "not a number of bytes",
		"c=oneof:": "expected integers", "c=oneof:1...": "ints: only", "c=oneof@x:1": "the seed",
		"c=ints@4:1": "not a value", "c=small:": "small:N", "c=small:0": "from 1 to", "c=small:1,2,3": "small:N,SEED",
		"c=perm:4294967296": "2^32-1", "c=csr:4": "csr:N,E", "c=csr:4,5,x": "the seed", "c=small:4:": "missing",
		"c=ints:": "expected integers", "c=ints:1,x": "expected integers", "c=ints:1...:4": "either",
		"c=ints:0x1ffffffffffffffff": "out of range", "c=f32:iota": "is not a value",
		"c=u64:zero": "is not a value", "c=struct:8": "STRIDE", "c=struct:0{0=1}": "STRIDE",
		"c=struct:8{}": "OFFSET=FILL", "c=struct:8{8=1}": "below the 8 bytes", "c=struct:8{6=1}": "runs past",
		"c=struct:8{0=iota:4}":  "without a size",
		"c=struct:8{0=alias:a}": "a member is", "c=struct:8{0=1}x": "unexpected", "c=struct:8{0=1:}": "not a value",
		"c=struct:8{0=u8:small:257}": "do not fit",
		"s=hex:0":                    "hexadecimal", "s=hex:": "hexadecimal", "s=hex:...": "hexadecimal",
		"s=hex:0...": "hexadecimal", "s+x=4": "OFFSET", "+4=1": "OFFSET", "in=unknown:-1": "negative",
	}
	for s, want := range tests {
		if got, err := ParseArg(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseArg(%q) = %+v, %v; want an error with %q", s, got, err, want)
		}
	}
}

func TestEncodeLiteral(t *testing.T) {
	tests := []struct {
		text  string
		typ   isa.Type
		float bool
		want  []byte // nil: an error
	}{
		{"1024", isa.U32, false, []byte{0, 4, 0, 0}},
		{"-1", isa.U32, false, []byte{255, 255, 255, 255}}, // PTX has .u32 for int
		{"4294967295", isa.S32, false, []byte{255, 255, 255, 255}},
		{"4294967296", isa.U32, false, nil},
		{"-2147483649", isa.U32, false, nil},
		{"300", isa.U8, false, nil},
		{"-128", isa.S8, false, []byte{0x80}},
		{"18446744073709551615", isa.U64, false, []byte{255, 255, 255, 255, 255, 255, 255, 255}},
		{"18446744073709551616", isa.U64, false, nil},
		{"1.5", isa.U32, false, nil},
		{"1.5", isa.F32, false, []byte{0, 0, 0xc0, 0x3f}},
		{"1", isa.F32, false, []byte{0, 0, 0x80, 0x3f}},
		{"1", isa.B32, true, []byte{0, 0, 0x80, 0x3f}},
		{"1", isa.B32, false, []byte{1, 0, 0, 0}},
		{"1.0", isa.B32, false, []byte{0, 0, 0x80, 0x3f}},
		{"1.0", isa.B16, false, nil},
		{"1e40", isa.F32, false, nil},
		{"1", isa.F64, false, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{"1.0", isa.F16, false, nil},
		{"u32:7", isa.F32, false, []byte{7, 0, 0, 0}},
		{"u64:7", isa.U32, false, nil},
	}
	for _, tt := range tests {
		got, err := encodeLiteral(tt.text, tt.typ, tt.float)
		if (err != nil) != (tt.want == nil) || cmp.Diff(tt.want, got) != "" && err == nil {
			t.Errorf("%s as .%s: %v, %v; want %v", tt.text, tt.typ, got, err, tt.want)
		}
	}
}

func FuzzParseArg(f *testing.F) {
	for _, s := range []string{"n=1", "a=random@7:4K", "s+8=u32:1", "w=file:a:4", "b=alias:a",
		"v=value:-1:4", "h=hex:00", "h=hex:00ff...", "x=unknown:4", "b=alias:a+4", "b=alias: +0", "z=zero:64+8",
		"w=file:a:4+4", "v=value:+1", "c=small:10,7:64", "o=u8:oneof@7:0,-1:64+1", "p=u64:perm:4", "r=csr:4,5+8",
		"i=ints:0,-3...", "n=struct:16{0=iota,4=small:10,7,8=f64:0.5}:64+16"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseArg(s)
		if err != nil {
			return
		}
		again, err := ParseArg(a.String())
		if err != nil || cmp.Diff(a, again) != "" {
			t.Errorf("%q reads as %+v and prints as %q, which reads as %+v, %v", s, a, a.String(), again,
				err)
		}
	})
}

// Any text is a size or an error of one line. The numbers of a size are read as the same size.
func FuzzParseDim(f *testing.F) {
	for _, s := range []string{"1", "0x10,2,3", "8,,1", "4294967296", "-1,1", "48K", "16MiB", "0x", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDim(s)
		if err == nil {
			text := fmt.Sprintf("%d,%d,%d", d.X, d.Y, d.Z)
			if again, err := ParseDim(text); err != nil || again != d {
				t.Errorf("%q is %v, which is read as %v, %v", s, d, again, err)
			}
		}
		_, indexErr := ParseIndex(s)
		_, sharedErr := ParseShared(s)
		for _, err := range []error{err, indexErr, sharedErr} {
			if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%q: %q", s, err)
			}
		}
	})
}
