package launch

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// words32 returns the first n elements of 4 bytes of a buffer.
func words32(b *Buffer, n int) []uint32 {
	p := make([]byte, 4*n)
	b.Init(p, 0)
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(p[4*i:])
	}
	return out
}

// made returns the buffer that a flag specifies.
func made(t testing.TB, flag string, loads uint8) *Buffer {
	t.Helper()
	a, err := ParseArg(flag)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBuffer(a.Param, a, func() uint8 { return loads })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The numbers are below N, all of them occur, and seeds and names change them.
func TestSmall(t *testing.T) {
	one := words32(made(t, "a=small:10", 4), 1000)
	count := make([]int, 10)
	for _, n := range one {
		count[n]++ // panics for 10 and above
	}
	for n, c := range count {
		if c < 60 || c > 150 {
			t.Errorf("%d occurs %d times among 1000 of 10", n, c)
		}
	}
	if !slices.Equal(one, words32(made(t, "a=small:10", 0), 1000)) {
		t.Error("equal specifications differ")
	}
	for _, other := range []string{"b=small:10", "a=small:10,1"} {
		if slices.Equal(one, words32(made(t, other, 4), 1000)) {
			t.Errorf("%s is the same as a=small:10", other)
		}
	}
}

// Each element is one of the list, and all of the list occur.
func TestOneOf(t *testing.T) {
	count := map[uint32]int{}
	for _, n := range words32(made(t, "a=oneof:3,-1,0", 4), 300) {
		count[n]++
	}
	if len(count) != 3 || count[3] < 60 || count[1<<32-1] < 60 || count[0] < 60 {
		t.Errorf("%v", count)
	}
}

// A permutation has each number once, whatever N is.
func TestPerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		b := &Buffer{Name: "p", Fill: FillPerm, N: uint64(n), Seed: rapid.Uint64().Draw(t, "seed")}
		got := words32(b, n+2)
		if got[n] != 0 || got[n+1] != 0 {
			t.Fatalf("behind the permutation: %v", got[n:])
		}
		got = got[:n]
		slices.Sort(got)
		for i, v := range got {
			if v != uint32(i) {
				t.Fatalf("sorted, element %d is %d", i, v)
			}
		}
	})
	if got := words32(made(t, "p=perm:64", 4), 64); slices.IsSorted(got) {
		t.Error("the permutation is the identity")
	}
}

// Row pointers start at 0, never fall, and end at E.
func TestCSR(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, e := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(0, 2000).Draw(t, "e")
		b := &Buffer{Name: "r", Fill: FillCSR, N: uint64(n), E: uint64(e),
			Seed: rapid.Uint64().Draw(t, "seed")}
		got := words32(b, n+3)
		if got[0] != 0 || got[n] != uint32(e) || got[n+2] != uint32(e) || !slices.IsSorted(got) {
			t.Fatalf("%v", got)
		}
		for i := range n {
			if got[i+1]-got[i] > uint32(2*(e/n+1)) {
				t.Fatalf("row %d has %d of %d entries in %d rows", i, got[i+1]-got[i], e, n)
			}
		}
	})
	big := &Buffer{Name: "r", Fill: FillCSR, N: mostElements, E: mostElements}
	if got := big.element(mostElements - 1); got > mostElements || got < mostElements-2 {
		t.Errorf("the product of N and E overflows: %d", got)
	}
}

// The size of an element is that of the specification, else that of the kernel's accesses, else 4
// bytes. Fills with a last element bound the buffer.
func TestElements(t *testing.T) {
	for _, tt := range []struct {
		flag  string
		loads uint8
		size  uint64
		want  []byte
	}{
		{"a=iota", 0, 0, []byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}},
		{"a=iota", 8, 0, []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}},
		{"a=iota", 1, 0, []byte{0, 1, 2, 3}},
		{"a=u16:iota", 8, 0, []byte{0, 0, 1, 0, 2, 0}},
		{"a=ints:1,-2", 2, 4, []byte{1, 0, 0xfe, 0xff, 0, 0}},
		{"a=ints:1,2...", 0, 0, []byte{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}},
		{"a=ints:7:64", 1, 64, []byte{7, 0, 0}},
		{"a=struct:8{0=ints:1,2,4=u16:iota,6=s8:-1,7=u8:ints:9}", 8, 0, []byte{
			1, 0, 0, 0, 0, 0, 0xff, 9, 2, 0, 0, 0, 1, 0, 0xff, 0, 0, 0, 0, 0, 2, 0, 0xff, 0}},
		{"a=struct:3{1=u8:iota}", 0, 0, []byte{0, 0, 0, 0, 1, 0, 0, 2, 0}},
	} {
		b := made(t, tt.flag, tt.loads)
		got := make([]byte, len(tt.want))
		if b.Init(got, 0); b.Size != tt.size || !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %d bytes, % x, want % x", tt.flag, b.Size, got, tt.want)
		}
	}
	for flag, size := range map[string]uint64{"a=perm:10": 80, "a=csr:10,3": 88, "a=u8:perm:10": 10} {
		if b := made(t, flag, 8); b.Size != size {
			t.Errorf("%s: %d bytes", flag, b.Size)
		}
	}
	for _, flag := range []string{"a=small:257", "a=ints:-129", "a=csr:4,256"} {
		a, err := ParseArg(flag)
		if err == nil {
			_, err = newBuffer("a", a, func() uint8 { return 1 })
		}
		if err == nil {
			t.Errorf("%s fits in bytes", flag)
		}
	}
}

// A page has the same bytes whichever pages are created before it.
func TestInitByPages(t *testing.T) {
	flags := []string{"a=iota", "a=u64:small:1000,3", "a=u16:perm:70", "a=csr:50,400",
		"a=ints:1,2,3...", "a=u16:oneof:1,2,3", "a=struct:12{0=small:100,4=f64:0.5}", "a=struct:7{0=u16:iota,2=s8:-1,3=random}",
		"a=struct:5{0=value:65537}"}
	rapid.Check(t, func(t *rapid.T) {
		a, err := ParseArg(rapid.SampledFrom(flags).Draw(t, "fill"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBuffer("a", a, func() uint8 { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		all := make([]byte, 600)
		b.Init(all, 0)
		start := rapid.IntRange(0, 500).Draw(t, "start")
		part := make([]byte, rapid.IntRange(0, 100).Draw(t, "bytes"))
		if b.Init(part, uint64(start)); !bytes.Equal(part, all[start:start+len(part)]) {
			t.Fatalf("bytes from %d on: % x, want % x", start, part, all[start:start+len(part)])
		}
	})
}
