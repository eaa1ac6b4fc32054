package launch

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// described returns facts with metadata of kernel k, each of them at a line of its own.
func described(k *ir.Func) *SourceFacts {
	at := func(line int) source.Span { return source.Span{Start: source.MakePos(1, line, 1)} }
	shared := uint32(512)
	return &SourceFacts{Metadata: &Metadata{Path: "k.json", Kernel: k.Name,
		Request: Request{Block: &event.Dim3{X: 128, Y: 1, Z: 1}, Cluster: &event.Dim3{X: 2, Y: 1, Z: 1},
			Shared: &shared},
		Spans:       map[string]source.Span{"block": at(3), "cluster": at(4), "shared": at(5)},
		Cooperative: true, Unknown: []string{"launch_order"}, Notes: []string{"launch_pdl: not checked"},
	}}
}

// Metadata takes precedence over guesses and gives way to everything that a user says. The grid,
// which it does not have, stays a guess, as a multiple of the cluster.
func TestMetadata(t *testing.T) {
	k := kernel(ir.CtaidX)
	c := resolve(t, k, Request{}, described(k))
	const want = "grid 4 (guessed: rounded up to a multiple of the cluster), block 128 (metadata), " +
		"cluster 2 (metadata), shared 512 (metadata), "
	if got := c.Describe(); !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, ", without the unknown launch_order of k.json") {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.Shape(); !strings.Contains(got, "launch_order") {
		t.Errorf("the shape does not name what is unknown: %s", got)
	}
	if got := c.Flags(); got != "--grid 4 --block 128 --cluster 2 --shared 512" {
		t.Errorf("flags %s", got)
	}
	if !c.Cooperative || len(c.Notes) != 1 {
		t.Errorf("cooperative %v, notes %v", c.Cooperative, c.Notes)
	}
	facts := described(k)
	facts.Pragmas = []Pragma{{Kernel: "k", Request: request(t, "block=64", "shared=16")}}
	c = resolve(t, k, request(t, "cluster=1", "shared=48"), facts)
	if got := c.Describe(); !strings.Contains(got, "block 64 (comment), shared 48 (flag)") {
		t.Errorf("a comment and a flag: %s", got)
	}
	other := described(k)
	other.Metadata.Kernel = "another"
	if c := resolve(t, k, Request{}, other); c.Origins["block"] != Default || len(c.Unread) > 0 {
		t.Errorf("metadata of another kernel: %s", c.Describe())
	}
	if f := described(k).unless(&Saved{}); f.Metadata != nil {
		t.Error("a saved launch leaves the metadata")
	}
}

// A launch that the PTX forbids is an error at the value, which names both.
func TestMetadataContradicts(t *testing.T) {
	for _, tt := range []struct {
		change func(*ir.Func)
		line   int
		want   string
	}{
		{func(k *ir.Func) { k.ReqNTID = event.Dim3{X: 256, Y: 1, Z: 1} }, 3,
			"block 128 (metadata) contradicts .reqntid 256"},
		{func(k *ir.Func) { k.MaxNTID = event.Dim3{X: 64, Y: 1, Z: 1} }, 3,
			"block 128 (metadata) has 128 threads; .maxntid"},
		{func(k *ir.Func) { k.ReqCluster = event.Dim3{X: 4, Y: 1, Z: 1} }, 4,
			"cluster 2 (metadata) contradicts .reqnctapercluster 4"},
	} {
		k := kernel(ir.CtaidX)
		tt.change(k)
		_, errs := Resolve(k, Request{}, described(k))
		if len(errs) != 1 || errs[0].Span.Start.Line() != tt.line ||
			!strings.Contains(errs[0].Msg, tt.want) {
			t.Errorf("%v, want %q in line %d", errs, tt.want, tt.line)
		}
	}
	k := kernel()
	facts := described(k)
	facts.Metadata.Errs = []*Error{{Msg: "num_warps is 0"}}
	if _, errs := Resolve(k, Request{}, facts); len(errs) != 1 || errs[0].Msg != "num_warps is 0" {
		t.Errorf("%v", errs)
	}
}

// Boxes belong to the parameters that are tensor maps, in their order, and to none if the numbers
// differ.
func TestMetadataBox(t *testing.T) {
	tensor := func() *ir.Var { return &ir.Var{Size: 128, Align: 64} }
	a, b := tensor(), tensor()
	k := &ir.Func{Name: "k", Params: []*ir.Var{{Size: 128, Align: 8}, a, {Size: 8, Align: 8}, b}}
	m := &Metadata{Kernel: "k", Boxes: []uint64{512, 1024}}
	if m.Box(k, a) != 512 || m.Box(k, b) != 1024 || m.Box(k, k.Params[0]) != 0 {
		t.Errorf("boxes of %d, %d and %d bytes", m.Box(k, a), m.Box(k, b), m.Box(k, k.Params[0]))
	}
	m.Boxes = m.Boxes[:1]
	if n := m.Box(k, a); n != 0 {
		t.Errorf("one box of two: %d bytes", n)
	}
	if n := (&Metadata{Kernel: "other", Boxes: []uint64{512, 1024}}).Box(k, a); n != 0 {
		t.Errorf("of another kernel: %d bytes", n)
	}
	if n := (*Metadata)(nil).Box(k, a); n != 0 {
		t.Errorf("without metadata: %d bytes", n)
	}
}

// BoxBytes accepts what cuTensorMapEncodeTiled accepts.
func TestBoxBytes(t *testing.T) {
	for _, tt := range []struct {
		extents []uint64
		elem    uint64
		want    uint64
	}{
		{[]uint64{64, 64}, 2, 8192}, {[]uint64{16}, 1, 16}, {[]uint64{256, 16, 1, 1, 1}, 8, 32768},
		{[]uint64{257}, 16, 0}, {[]uint64{0, 16}, 4, 0}, {[]uint64{3}, 4, 0}, {nil, 16, 0},
		{[]uint64{256, 256, 256}, 8, 0}, {[]uint64{1, 1, 1, 1, 1, 16}, 1, 0}, {[]uint64{8}, 16, 0},
	} {
		if got := BoxBytes(tt.extents, tt.elem); got != tt.want {
			t.Errorf("%v of %d: %d, want %d", tt.extents, tt.elem, got, tt.want)
		}
	}
}
