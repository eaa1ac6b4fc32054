package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mention finds the name of a Markdown or Go file, and the design notes that comments once
// referred to.
var mention = regexp.MustCompile(`[\w./:@-]*\w\.(md|go)\b|\bDESIGN\b`)

// TestMentions: no comment, document or kernel of the test data refers to a document that the repository lacks. A
// name without a directory may be that of any file of the repository.
func TestMentions(t *testing.T) {
	const root = ".."
	var files []string
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."), d.IsDir() && d.Name() == "fuzz",
			d.IsDir() && d.Name() == "node_modules":
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		known[d.Name()] = true
		if strings.HasSuffix(path, "_test.go") { // they hold texts of files that they make up
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".cu", ".cl", ".ptx", ".h", ".cuh", ".txtar", ".toml", ".yml", ".sh":
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if strings.Contains(line, "://") || strings.Contains(line, "github.com/") {
				continue // another repository's
			}
			for _, name := range mention.FindAllString(line, -1) {
				exists := known[name]
				for _, base := range []string{root, root + "/internal", filepath.Dir(path)} {
					_, err := os.Stat(filepath.Join(base, name))
					exists = exists || err == nil
				}
				if !exists {
					t.Errorf("%s:%d: %s is not in the repository", strings.TrimPrefix(path, root+"/"), n, name)
				}
			}
		}
	}
}
