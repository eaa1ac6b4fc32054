package launch

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"heddle/internal/event"
)

// anyDim draws a size.
func anyDim(t *rapid.T) event.Dim3 {
	n := func() uint32 { return rapid.Uint32Range(1, 1<<16).Draw(t, "dim") }
	return event.Dim3{X: n(), Y: n(), Z: n()}
}

// anySaved draws a launch whose pointers are in bounds.
func anySaved(t *rapid.T) *Saved {
	s := &Saved{Kernel: "_Z1kPi", Demangled: rapid.String().Draw(t, "name"), Grid: anyDim(t),
		Block: anyDim(t), Cluster: anyDim(t), Shared: rapid.Uint32().Draw(t, "shared"),
		Cooperative: rapid.Bool().Draw(t, "cooperative"),
		FirstFunc:   rapid.IntRange(0, 1000).Draw(t, "first"),
		Params:      rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "params")}
	for i := range rapid.IntRange(0, 5).Draw(t, "buffers") {
		b := SavedBuffer{Name: fmt.Sprint("b", i), Size: rapid.Uint64Range(1, 1<<40).Draw(t, "size")}
		b.Data = rapid.SliceOfN(rapid.Byte(), 0, int(min(b.Size, 300))).Draw(t, "data")
		b.Data = bytes.TrimRight(b.Data, "\x00") // trailing zeros are not stored
		b.Heap = rapid.Bool().Draw(t, "heap")
		if rapid.Bool().Draw(t, "variable") {
			b.Variable = fmt.Sprint("v", i)
		}
		s.Buffers = append(s.Buffers, b)
	}
	pointers := func(size uint64) (out []SavedPointer) {
		for range rapid.IntRange(0, 3).Draw(t, "pointers") {
			if size < 8 || len(s.Buffers) == 0 {
				break
			}
			n := rapid.IntRange(0, len(s.Buffers)-1).Draw(t, "to")
			out = append(out, SavedPointer{rapid.Uint64Range(0, size-8).Draw(t, "offset"), n,
				rapid.Uint64Range(0, s.Buffers[n].Size).Draw(t, "at")})
		}
		return out
	}
	s.Pointers = pointers(uint64(len(s.Params)))
	for i := range s.Buffers {
		s.Buffers[i].Pointers = pointers(s.Buffers[i].Size)
	}
	return s
}

// written returns the file of a launch.
func written(t interface{ Fatal(...any) }, s *Saved) []byte {
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is written is read back. Each part of a file is refused, and so is each file whose contents
// have a changed byte, unless it is the same launch; nothing panics.
func TestSavedFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySaved(t)
		file := written(t, s)
		got, err := ReadSaved(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		same := func(got *Saved) string { return cmp.Diff(s, got, cmpopts.EquateEmpty()) }
		if d := same(got); d != "" {
			t.Fatalf("written (-), read (+):\n%s", d)
		}
		n := rapid.IntRange(0, len(file)-1).Draw(t, "length")
		if got, err := ReadSaved(bytes.NewReader(file[:n])); err == nil {
			t.Fatalf("%d of %d bytes were read as %+v", n, len(file), got)
		}
		if _, err := ReadSaved(bytes.NewReader(append(bytes.Clone(file), 'x'))); err != nil &&
			!strings.Contains(err.Error(), "contents of the buffers") {
			t.Fatal(err)
		}
		changed := bytes.Clone(file)
		changed[n] ^= byte(1 + rapid.IntRange(0, 254).Draw(t, "bits"))
		head := bytes.IndexByte(file[len(savedMagic):], '\n') + len(savedMagic)
		if got, err := ReadSaved(bytes.NewReader(changed)); err == nil && n > head && same(got) != "" {
			t.Fatalf("byte %d changed: read without an error", n)
		}
	})
}

// Files that contradict themselves or claim too much are refused, with the reason.
func TestSavedMistakes(t *testing.T) {
	// described is a file with pointers in the parameters and buffers.
	described := func(pointers, buffers string) string {
		return savedMagic + `{"kernel":"k","demangled":"k","grid":[1,1,1],"block":[1,1,1],` +
			`"cluster":[1,1,1],"shared":0,"cooperative":false,"params":"0000000000000000",` +
			`"firstFunc":0,"pointers":[` + pointers + `],"buffers":[` + buffers + "]}\n"
	}
	buffer := func(name string, size, stored int) string {
		return fmt.Sprintf(`{"name":%q,"size":%d,"stored":%d}`, name, size, stored)
	}
	contents := func(b string) string {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = io.WriteString(z, b)
		_ = z.Close()
		return out.String()
	}
	const giga = 1_000_000_000
	for _, c := range []struct{ text, want string }{
		{"", "not a saved launch"},
		{"// a file\n", "not a saved launch"},
		{"heddle launch 2\n{}\n", `"heddle launch 2"; this version of heddle reads "heddle launch 1"`},
		{savedMagic, "description of the launch is incomplete: unexpected EOF"},
		{savedMagic + "{\n", "the description of the launch: unexpected EOF"},
		{savedMagic + "{}\n", "it names no kernel"},
		{savedMagic + `{"more":1}` + "\n", `unknown field "more"`},
		{described("[1,0,0]", buffer("a", 8, 0)), "the parameters: a pointer at byte 1 of 8"},
		{described("[0,1,0]", buffer("a", 8, 0)), "of buffer 1, of 1 buffers"},
		{described("[0,0,9]", buffer("a", 8, 0)), "to byte 9 of buffer 0"},
		{described("", buffer("a", 8, 9)), "buffer a has 8 bytes, of which 9 are stored"},
		{described("", buffer("a", 1<<41, 0)), "the limit is 1099511627776 bytes"},
		// Two sizes whose sum is above the limit: nothing is allocated for them.
		{described("", buffer("a", giga, giga)+","+buffer("b", giga, giga)),
			"more than 1073741824 bytes of contents"},
		{described("", buffer("a", giga, giga)) + contents("short"),
			"a has 5 bytes of 1000000000: unexpected EOF"},
		{described("", "") + contents("long"), "more bytes follow the last buffer"},
		{described("", ""), "unexpected EOF"},
	} {
		if _, err := ReadSaved(strings.NewReader(c.text)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%.200q: %v, want %q", c.text, err, c.want)
		}
	}
	big := &Saved{Kernel: "k", Buffers: []SavedBuffer{{Name: "a", Size: 1 << 31}}}
	big.Buffers[0].Data = make([]byte, maxSaved+1)
	big.Buffers[0].Data[maxSaved] = 1
	err := big.Write(io.Discard)
	if err == nil || !strings.Contains(err.Error(), "at most 1073741824") {
		t.Errorf("a launch that is too large: %v", err)
	}
	_, err = Load(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// A saved launch gives the Config of the launch: shape, values, aliasing, pointers in structs and
// in buffers, with nothing guessed; a flag takes precedence.
func TestResolveSaved(t *testing.T) {
	k := kernel()
	s := &Saved{Kernel: k.Name, Demangled: k.Demangled, Grid: event.Dim3{X: 3, Y: 1, Z: 1},
		Block: event.Dim3{X: 40, Y: 1, Z: 1}, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}, Shared: 16,
		Params: make([]byte, 48),
		Buffers: []SavedBuffer{{Name: "d_x", Size: 100, Data: []byte{1, 2}},
			{Name: "d_list", Size: 24, Pointers: []SavedPointer{{16, 0, 8}}},
			{Name: "var", Variable: "v", Size: 4, Data: []byte{7}}},
		Pointers: []SavedPointer{{0, 0, 0}, {8, 0, 4}, {32, 1, 0}}}
	s.Params[16], s.Params[40] = 9, 5
	path := filepath.Join(t.TempDir(), "k.1")
	if err := os.WriteFile(path, written(t, s), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	facts := &SourceFacts{Launches: []HostLaunch{{Kernel: "k"}, {Kernel: "k"}}}
	c, errs := Resolve(k, Request{Saved: s}, facts)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	a := c.Args
	x, list := a[0].Buffer, a[4].Fields[0].Buffer
	switch {
	case c.Geometry.Grid.X != 3 || c.Geometry.Block.X != 40 || c.DynShared != 16:
		t.Errorf("%+v, %d", c.Geometry, c.DynShared)
	case x == nil || x.Size != 100 || x.Fill != FillFile || !bytes.Equal(x.Data, []byte{1, 2}):
		t.Errorf("in: %+v", a[0])
	case a[1].Buffer != x || a[1].Offset != 4:
		t.Errorf("out: %+v", a[1])
	case a[2].Value() != "9" || a[3].Value() != "0":
		t.Errorf("n: %+v, alpha: %+v", a[2], a[3])
	case len(a[4].Fields) != 1 || a[4].Fields[0].Offset != 8 || a[4].Bits[16] != 5 || list.Size != 24:
		t.Errorf("s: %+v", a[4])
	case len(list.Pointers) != 1 || list.Pointers[0] != (PointerField{Offset: 16, Buffer: x, At: 8}):
		t.Errorf("list: %+v", list)
	case len(c.Vars) != 1 || c.Vars["v"].Data[0] != 7:
		t.Errorf("variables: %+v", c.Vars)
	case len(c.Notes) > 0 || c.Host != 0:
		t.Errorf("notes %q, host launch %d", c.Notes, c.Host)
	}
	for key, o := range c.Origins {
		if o != FromProgram {
			t.Errorf("%s is from %s", key, o)
		}
	}
	if got, want := c.Flags(), "--launch "+path; got != want {
		t.Errorf("flags %q, want %q", got, want)
	}
	if all, errs := Launches(k, Request{Saved: s}, facts); len(errs) > 0 || len(all.Configs) != 1 {
		t.Errorf("%v %v", all, errs)
	}
	n, err := ParseArg("n=3")
	if err != nil {
		t.Fatal(err)
	}
	grid := event.Dim3{X: 5, Y: 1, Z: 1}
	c, errs = Resolve(k, Request{Saved: s, Grid: &grid, Args: []ArgSpec{n}}, nil)
	if len(errs) > 0 || c.Geometry.Grid.X != 5 || c.Geometry.Block.X != 40 ||
		c.Args[2].Value() != "3" || c.Flags() != "--launch "+path+" --grid 5 --arg n=3" {
		t.Errorf("with flags: %+v, %v, %q", c, errs, c.Flags())
	}
}

func FuzzReadSaved(f *testing.F) {
	s := &Saved{Kernel: "k", Params: make([]byte, 8), Pointers: []SavedPointer{{0, 0, 0}},
		Buffers: []SavedBuffer{{Name: "a", Size: 8, Data: []byte("abc")}}}
	f.Add(written(f, s))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = ReadSaved(bytes.NewReader(b)) })
}
