package check

import (
	"context"
	"os"
	"testing"

	"heddle/internal/diag"
)

func BenchmarkTraceFile(b *testing.B) {
	name := os.Getenv("WHY")
	if name == "" {
		b.Skip()
	}
	for range b.N {
		_, err := Run(context.Background(), Options{Trace: &Trace{}}, []string{name}, func(diag.Diagnostic) {})
		if err != nil {
			b.Fatal(err)
		}
	}
}
