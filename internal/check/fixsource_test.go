package check

import (
	"context"
	"path/filepath"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/lower"
	"heddle/internal/source"
)

func TestFixSource(t *testing.T) {
	files, err := filepath.Glob("../../testdata/fix/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range files {
		opt := Options{Files: source.NewSet(), Limit: 20}
		res, err := FixFile(context.Background(), opt, FixOptions{Source: true}, Input{Input: lower.Input{Name: path}}, func(d diag.Diagnostic) {})
		if err != nil {
			t.Fatal(err)
		}
		for i := range res.Fixes {
			f := &res.Fixes[i]
			if f.Status == Repaired {
				t.Logf("%s: %v / %v; %s %v", f.Kernel, f.After.Kind, f.Source.Kind, f.PTXOnly, f.Total)
			}
		}
		t.Log(res.Diff)
	}
}
