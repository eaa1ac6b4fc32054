package syntax

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"heddle/internal/source"
)

// drawJSON prints a random value with locations, indented or not, and stores the file of the last
// location by clang's rule: a file inside includedFrom belongs to no location.
func drawJSON(r *rand.Rand, b *strings.Builder, depth int, included bool, file *string) {
	space := func() { b.WriteString([]string{"", " ", "\n  "}[r.IntN(3)]) }
	str := func() {
		fmt.Fprintf(b, "%q", []string{"", "file", "includedFrom", `a"b`, `c\`, "{", "]", "é"}[r.IntN(8)])
	}
	switch k := r.IntN(6); {
	case k == 0 || depth == 0:
		b.WriteString([]string{"1", "-2.5e3", "true", "false", "null"}[r.IntN(5)])
	case k == 1:
		str()
	case k == 2:
		b.WriteString("[")
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteString(",")
			}
			space()
			drawJSON(r, b, depth-1, included, file)
		}
		space()
		b.WriteString("]")
	default:
		b.WriteString("{")
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteString(",")
			}
			space()
			switch r.IntN(4) {
			case 0:
				name := fmt.Sprintf("f%d.h", r.IntN(100))
				fmt.Fprintf(b, `"file": %q`, name)
				if !included {
					*file = name
				}
			case 1:
				b.WriteString(`"includedFrom": {`)
				fmt.Fprintf(b, `"file": "x.h", "more": `)
				drawJSON(r, b, depth-1, true, file)
				b.WriteString("}")
			default:
				fmt.Fprintf(b, `"k%d": `, i)
				drawJSON(r, b, depth-1, included, file)
			}
		}
		space()
		b.WriteString("}")
	}
}

// TestSkip skips random values, read at once and in small pieces. The scanner must then be after
// the value and know the correct file.
func TestSkip(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var b strings.Builder
		want := "before.h"
		b.WriteString(`{"inner": `)
		drawJSON(r, &b, 6, false, &want)
		b.WriteString(`}`)
		text := b.String()
		if !json.Valid([]byte(text)) {
			t.Fatalf("seed %d: the test makes no JSON: %s", seed, text)
		}
		for _, s := range []*scanner{newScanner(strings.NewReader(text)),
			newScanner(iotest.OneByteReader(strings.NewReader(text)))} {
			s.file = "before.h"
			if err := s.expect('{'); err != nil {
				t.Fatal(err)
			}
			if err := s.object(true, func(string) error { return s.skip() }); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if rest := s.r.Buffered(); rest > 0 || s.file != want {
				t.Fatalf("seed %d: %d bytes left, file %q, want %q\n%s", seed, rest, s.file, want, text)
			}
		}
	}
}

// FuzzRead checks that any input yields a unit or an error, and never a panic.
func FuzzRead(f *testing.F) {
	const begin = `{"id": "0x1", "kind": "TranslationUnitDecl", "loc": {}, "range": {"begin": {}, "end": {}}, "inner": [`
	f.Add([]byte(begin + `]}`))
	f.Add([]byte(begin + `{"kind": "FunctionDecl", "loc": {"offset": 5, "file": "k.cu", "line": 1, "col": 6, "tokLen": 1}, "range": {"begin": {"offset": 0, "col": 1, "tokLen": 4}, "end": {"offset": 30, "col": 31, "tokLen": 1}}, "name": "k", "mangledName": "_Z1kv", "inner": [{"kind": "CompoundStmt", "range": {"begin": {"offset": 9, "tokLen": 1}, "end": {"offset": 30, "tokLen": 1}}, "inner": [{"kind": "IfStmt", "hasElse": true, "range": {"begin": {"offset": 11, "tokLen": 2}, "end": {"offset": 20, "tokLen": 1}}, "inner": [{}, {"kind": "NullStmt", "range": {"begin": {"spellingLoc": {"offset": 3, "file": "m.h", "tokLen": 1}, "expansionLoc": {"offset": 18, "file": "k.cu", "tokLen": 1}}, "end": {"offset": 18, "tokLen": 1}}}]}]}, {"kind": "CUDAGlobalAttr"}]}]}`))
	f.Add([]byte(`{"kind": "IfStmt"`))
	f.Add(bytes.Repeat([]byte(`{"inner": [`), 1000))
	f.Fuzz(func(t *testing.T, text []byte) {
		set := source.NewSet()
		if _, err := set.Add("k.cu", []byte("void k() { if (1) ; else ; a; }")); err != nil {
			t.Fatal(err)
		}
		u, err := Read(set, bytes.NewReader(text), false,
			func(path string) (string, bool) { return path, path == "k.cu" })
		if err == nil {
			u.Marks()
		}
	})
}
