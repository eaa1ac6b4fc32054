package run

import (
	"testing"

	"heddle/internal/isa"
)

func TestValueText(t *testing.T) {
	for _, test := range []struct {
		typ  isa.Type
		bits uint64
		want string
	}{
		{isa.F32, 0x40490fdb, "3.14159"},
		{isa.F64, 0xbff8000000000000, "-1.5"},
		{isa.U32, 0xffffffff, "-1"}, // of an int, more likely
		{isa.U32, 0x80000000, "2147483648"},
		{isa.U8, 0xff, "255"},
		{isa.S8, 0xff, "-1"},
		{isa.S16, 0x8000, "-32768"},
		{isa.S64, 0x8000000000000000, "-9223372036854775808"},
		{isa.U64, 1 << 40, "1099511627776"},
		{isa.U32, 0xabc00000005, "5"}, // of a wider register
		{isa.B32, 5, ""},              // a float, perhaps
		{isa.Pred, 1, ""},
	} {
		if got := valueText(test.typ, test.bits); got != test.want {
			t.Errorf("%v %#x: %q, want %q", test.typ, test.bits, got, test.want)
		}
	}
}
