package diag

import (
	"bytes"
	"strings"
	"testing"

	"heddle/internal/source"
)

func TestGitHub(t *testing.T) {
	set, d := tile(t)
	note := &Diagnostic{Code: CodeLaunch, Severity: Note, Message: "guessed", Input: "/base/a,b:c%.cu"}
	multi := *d
	multi.Severity, multi.Notes, multi.Related, multi.Help, multi.Fixes, multi.Reproduce = Warning,
		nil, nil, nil, nil, ""
	multi.Message, multi.Kernel = "100%\r\n::error::x, y: z", ""
	multi.Span.End = source.MakePos(multi.Span.Start.File(), 3, 2)
	hidden := *d
	hidden.Suppressed = &Suppression{}
	var b bytes.Buffer
	g := NewGitHub(&b, set, "/base")
	for _, d := range []*Diagnostic{d, note, &multi, &hidden} {
		if err := g.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []*Verdict{
		{Kind: Bug, Kernel: "k"}, {Kind: Clean, Kernel: "c\n::error::x", Scope: "s"},
		{Kind: Unknown, Kernel: "u", Reason: "why", Input: "x.cu"},
	} {
		if err := g.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"::error file=tile.cu,line=1,endLine=1,col=44,endColumn=48,title=heddle%3A " +
			"race-shared::read-write intra-block data race on shared s (bytes 4-7)" +
			"%0Ano barrier orders (1) and (2)%0Ahelp: put a barrier between them%0Ahelp: insert " +
			"__syncthreads()%0Areproduce: heddle run --seed 17 --grid 1 --block 64 tile.cu" +
			"%0Aand (1) occurred earlier here at tile.cu:4:2%0Akernel: k(int*)",
		"::notice file=a%2Cb%3Ac%25.cu,title=heddle%3A launch::guessed",
		"::warning file=tile.cu,line=1,endLine=3,title=heddle%3A race-shared::100%25%0D%0A::error::x, " +
			"y: z",
		"bug: kernel k",
		"clean: kernel c\uFFFD::error::x: no findings in s; there is no proof",
		"::warning file=x.cu,title=heddle%3A unknown::kernel u: why",
		"",
	}
	if got := b.String(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
