package report

import (
	"bytes"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// graphExample is a long trace with a producer, warp 0, and three consumers with the same behavior.
// Barrier 1 is reused too early, and the producer waits forever at barrier 2.
func graphExample(f *source.File) *diag.BarrierGraph {
	const all = 0xffffffff
	at := func(line int) source.Span { return source.Span{Start: source.MakePos(f.ID, line, 2)} }
	round := func(index int, number uint64) diag.Generation {
		g := diag.Generation{Index: index, Barrier: 1, Number: number, Count: 128, Complete: true,
			Parts: []diag.Part{{Warp: 0, Lanes: all, Span: at(3)}}}
		for w := 1; w < 4; w++ {
			g.Parts = append(g.Parts, diag.Part{Warp: w, Lanes: all, Waits: true, Span: at(6)})
		}
		if index > 0 {
			g.After = []int{index - 1}
		}
		return g
	}
	last := diag.Generation{Index: 41, Barrier: 2, Number: 1, Count: 64,
		Parts: []diag.Part{{Warp: 0, Lanes: all, Waits: true, Span: at(6)}}}
	g := &diag.BarrierGraph{Kernel: "k<1>", Input: f.Name, Block: "(0,0,0)", Warps: 4, Total: 42,
		Exited:      []uint32{0, all, all, all},
		Generations: []diag.Generation{round(0, 1), round(1, 2), round(40, 41), last}}
	g.Generations[1].Wrong = diag.CodeBarrierRecycle
	return g
}

func TestGraph(t *testing.T) {
	files := source.NewSet()
	f, err := files.Add("dir/k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	h := New(&bytes.Buffer{}, files, "", "")
	got := h.graphOf(graphExample(f), func(code diag.Code) string { return "f-" + string(code) })
	drawing := string(got.Drawing)
	for _, want := range []string{
		">warp 0</text>", ">warps 1-3</text>", // warps with the same behavior share a row
		">38 more</text>", // generations 3 to 40
		`<a href="#f-barrier-recycling">`, ">reused too early</text>",
		">incomplete at exit</text>", ">32 of 64</text>", ">exits</text>",
	} {
		if strings.Count(drawing, want) != 1 {
			t.Errorf("%s occurs %d times in the drawing", want, strings.Count(drawing, want))
		}
	}
	// Three generations have a producer: each has an arrow to the one row that waits, and a ring.
	for class, want := range map[string]int{"produced": 3, "arrow": 3, "arrives": 3, "waits": 4,
		"wrong": 1} {
		if n := strings.Count(drawing, `class="`+class+`"`); n != want {
			t.Errorf("%d of %s, want %d", n, class, want)
		}
	}
	if got.Summary != "showing 4 of 42 generations" {
		t.Error(got.Summary)
	}
	second := got.Generations[1]
	if second.Name != "Generation 2 of barrier 1, for 128 threads" ||
		second.Parts[0] != "32 threads of warp 0 arrive at dir/k.cu:3:2" ||
		second.Parts[3] != "32 threads of warp 3 wait at dir/k.cu:6:2" ||
		second.After != "generation 1 of barrier 1" || second.Wrong != "reused too early" {
		t.Errorf("%+v", second)
	}
	if third := got.Generations[2]; third.After != "a generation that is not shown" ||
		third.Wrong != "" {
		t.Errorf("%+v", third)
	}
	// A kernel without barriers has a graph too.
	none := h.graphOf(&diag.BarrierGraph{Kernel: "k", Warps: 1, Exited: []uint32{1}},
		func(diag.Code) string { return "" })
	if len(none.Generations) != 0 || none.Summary != "0 generations" {
		t.Errorf("%+v", none)
	}
}
