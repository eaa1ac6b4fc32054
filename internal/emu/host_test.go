package emu

import (
	"context"
	"encoding/binary"
	"testing"
)

// waiting is a kernel that waits until the host changes a variable, and then stores what it says.
const waiting = `
.version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 flag;
.visible .entry k(.param .u64 out, .param .u32 unused)
{
	.reg .pred %q;
	.reg .b32 %r;
	.reg .b64 %a;
	ld.param.u64 %a, [out];
again:
	ld.volatile.global.u32 %r, [flag];
	setp.eq.u32 %q, %r, 0;
	@%q bra again;
	st.global.u32 [%a], %r;
	ret;
}
`

// TestHost lets a kernel wait for the host. With a host that changes what the kernel polls the run
// goes on; with one that does not, and without one, it ends as any run whose threads only spin.
func TestHost(t *testing.T) {
	for _, test := range []struct {
		name   string
		host   bool
		value  uint32
		status Status
	}{
		{"none", false, 0, Stopped},
		{"idle", true, 0, Stopped},
		{"writes", true, 7, Completed},
	} {
		m, err := New(module(t, waiting), config(1, 64, buffer("out", 4)))
		if err != nil {
			t.Fatal(err)
		}
		stuck, first := 0, true
		opt := Options{}
		if test.host {
			opt.Host = func(mem HostMemory, waits bool) bool {
				if first {
					first = false // before the first instruction of the kernel
					var b [4]byte
					if err := mem.Read("flag", 0, b[:]); err != nil || b != [4]byte{} {
						t.Errorf("%s: %v %v", test.name, b, err)
					}
					if err := mem.Write("flag", 1, b[:]); err == nil {
						t.Errorf("%s: a write beyond the end succeeds", test.name)
					}
					if err := mem.Read("none", 0, b[:]); err == nil {
						t.Errorf("%s: a read of nothing succeeds", test.name)
					}
				}
				if !waits {
					return false
				}
				stuck++
				if test.value != 0 {
					err := mem.Write("flag", 0, binary.LittleEndian.AppendUint32(nil, test.value))
					if err != nil {
						t.Error(err)
					}
				}
				return test.value != 0
			}
		}
		res, err := m.Run(context.Background(), opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != test.status || res.Status == Stopped && res.Stop.Kind != Spinning ||
			test.host != (stuck > 0) {
			t.Errorf("%s: %v %+v, %d times stuck", test.name, res.Status, res.Stop, stuck)
		}
		var b [4]byte
		_, err = res.Read("out", 0, b[:])
		if err != nil || binary.LittleEndian.Uint32(b[:]) != test.value {
			t.Errorf("%s: out is %v (%v), want %d", test.name, b, err, test.value)
		}
	}
}

// TestHostBesideBlocks: the host gets turns while blocks run that do not wait for it, also if they
// could run ahead on workers.
func TestHostBesideBlocks(t *testing.T) {
	k := kernel(t, `mov.u32 %n, 0;
again:
	add.u32 %n, %n, 1;
	setp.lt.u32 %c, %n, 2000;
	@%c bra again;
	ret;`)
	m, err := New(k, config(64, 64, buffer("out", 4), buffer("x", 4)))
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	res, err := m.Run(t.Context(), Options{Workers: 2, Host: func(HostMemory, bool) bool {
		turns++
		return false
	}}, nil)
	if err != nil || res.Status != Completed {
		t.Fatal(err, res.Status)
	}
	if turns < 10 {
		t.Errorf("the host had %d turns beside %d warp instructions", turns, res.Steps)
	}
}
