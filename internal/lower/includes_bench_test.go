package lower

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkCheckIncludes is what is read of a file even if its compilation is in the cache.
func BenchmarkCheckIncludes(b *testing.B) {
	files, err := filepath.Glob("../../examples/*.cu")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	var inputs []Input
	var texts [][]byte
	bytes := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		inputs, texts = append(inputs, Input{Name: name, Lang: CUDA}), append(texts, text)
		bytes += len(text)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for i, in := range inputs {
			if _, err := checkIncludes(in, texts[i], Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
