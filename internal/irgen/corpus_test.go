package irgen

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// TestTestdata builds the IR of compiler output with all checks on.
func TestTestdata(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) { module(t, string(b)) })
	}
}

// TestCorpus builds the IR of all .ptx files below the directory that HEDDLE_PTX_CORPUS names:
// those that parse. What irgen accepts must pass the checker. What it rejects is counted by kind of
// error, for a person to judge.
func TestCorpus(t *testing.T) {
	root := os.Getenv("HEDDLE_PTX_CORPUS")
	if root == "" {
		t.Skip("HEDDLE_PTX_CORPUS is not set")
	}
	parsed, built, instrs := 0, 0, 0
	kinds := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".ptx" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := source.NewSet()
		src, err := set.Add(path, b)
		if err != nil {
			return err
		}
		file, errs := ptx.Parse(src)
		if len(errs) > 0 {
			return nil
		}
		parsed++
		m, errs := Module(set, file)
		if len(errs) > 0 {
			k := kindOf(errs[0].Msg)
			kinds[k] = append(kinds[k], set.Format(errs[0].Span.Start)+": "+errs[0].Msg)
			return nil
		}
		built++
		for _, f := range m.Funcs {
			instrs += f.NumInstrs
			if len(f.Blocks) > 0 {
				ir.PostDom(f)
				ir.FindLoops(f, ir.Dominators(f))
			}
		}
		for _, err := range ir.CheckModule(m) {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files parsed, %d built, %d instructions", parsed, built, instrs)
	var names []string
	for k := range kinds {
		names = append(names, k)
	}
	slices.SortFunc(names, func(a, b string) int { return len(kinds[b]) - len(kinds[a]) })
	for _, k := range names {
		t.Logf("%d: %s", len(kinds[k]), strings.Join(kinds[k][:min(4, len(kinds[k]))], "\n\t"))
	}
}

// kindOf leaves out of a message what differs between its instances.
func kindOf(msg string) string {
	return regexp.MustCompile(`[%$_]?\w*\d\w*|\.\w+`).ReplaceAllString(msg, "X")
}
