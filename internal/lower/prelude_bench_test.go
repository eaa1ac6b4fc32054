package lower

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// BenchmarkPreludeHeaders measures what each header of the prelude costs a file that uses nothing
// of it: the CPU time of clang for an empty kernel with the prelude up to that header, less the
// time with the prelude up to the header before. "ms" is with the prelude precompiled, as all
// compilations after the second have it, "ms-text" with the prelude as text, as the first two have
// it. Headers that are not in the prelude cost nothing until they are included. Each time is the
// shortest of the rounds, in which the two sides take turns.
func BenchmarkPreludeHeaders(b *testing.B) {
	tc, err := findToolchain(b.Context(), "", &probeCache{testCache})
	if err != nil {
		b.Skip(err)
	}
	root, err := writeHeaders(testCache)
	if err != nil {
		b.Fatal(err)
	}
	prelude, err := os.ReadFile(filepath.Join(root, "heddle", "prelude.h"))
	if err != nil {
		b.Fatal(err)
	}
	ends := regexp.MustCompile(`(?m)^#include ["<](.*)[">]\n`).FindAllSubmatchIndex(prelude, -1)
	if len(ends) < 10 {
		b.Fatalf("the prelude has %d headers", len(ends))
	}
	dir := b.TempDir()
	write := func(name string, text ...[]byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, slices.Concat(text...), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	// compile returns the CPU time of clang for the file, which has the prelude.
	compile := func(path, pch string, args ...string) time.Duration {
		x := &build{tc: tc, path: path, headers: root, tmp: dir, pch: pch}
		all := slices.DeleteFunc(x.clangArgs(args...), func(a string) bool {
			return pch == "" && (a == "-include" || a == filepath.Join(root, "heddle", "prelude.h"))
		})
		cmd := command(b.Context(), tc.Clang, all...)
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil {
			b.Fatalf("%v\n%s", err, out.Bytes())
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	const kernel = "__attribute__((global)) void k(int *p) { *p = 1; }\n"
	type variant struct{ text, pch string } // a file with the prelude, a precompiled prelude
	user := write("user.cu", []byte(kernel))
	variants := make([]variant, 0, len(ends)+1)
	add := func(prefix []byte) {
		text := bytes.ReplaceAll(prefix, []byte(`#include "`), []byte(`#include "`+root+`/heddle/`))
		id := strconv.Itoa(len(variants))
		v := variant{text: write("text"+id+".cu", text, []byte("#endif\n"+kernel)),
			pch: filepath.Join(dir, "pch"+id)}
		alone := write("prelude"+id+".cu", text, []byte("#endif\n"))
		compile(alone, "", "-Xclang", "-emit-pch", "-o", v.pch)
		variants = append(variants, v)
	}
	add(prelude[:ends[0][0]])
	for _, e := range ends {
		add(prelude[:e[1]])
	}
	for i, e := range ends {
		b.Run(string(prelude[e[2]:e[3]]), func(b *testing.B) {
			var pch, text [2]time.Duration
			for first := true; b.Loop(); first = false {
				for side, v := range variants[i : i+2] {
					p, t := compile(user, v.pch), compile(v.text, "")
					if first || p < pch[side] {
						pch[side] = p
					}
					if first || t < text[side] {
						text[side] = t
					}
				}
			}
			b.ReportMetric((pch[1]-pch[0]).Seconds()*1000, "ms")
			b.ReportMetric((text[1]-text[0]).Seconds()*1000, "ms-text")
			b.ReportMetric(0, "ns/op")
		})
	}
}
