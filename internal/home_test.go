package internal

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository finds the name of a repository of heddle on GitHub, and example hosts.
var repository = regexp.MustCompile(`github\.com/[\w.-]+/heddle\b|uses: [\w.-]+/heddle@|` +
	`ghcr\.io/[\w.-]+/heddle\b|example\.com`)

// publisher finds the account that publishes the extension for Visual Studio Code.
var publisher = regexp.MustCompile(`"publisher": "([^"]*)"`)

// TestHome: whoever reads the repository is sent nowhere but to where it is published, which the
// path of the module says; before that, to the placeholder OWNER.
func TestHome(t *testing.T) {
	owner := "OWNER"
	if parts := strings.Split(module(), "/"); len(parts) == 3 {
		owner = parts[1]
	}
	places := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"../.git", "../bin", "../dist"},
			filepath.ToSlash(path)) || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		for _, m := range repository.FindAllString(string(text), -1) {
			places++
			if !strings.Contains(m, owner+"/heddle") && !strings.HasPrefix(path, "../cmd/publish-as") {
				t.Errorf("%s: %s is no home of heddle", path, m)
			}
		}
		return nil
	})
	if err != nil || places == 0 {
		t.Errorf("%d places, %v", places, err)
	}
	manifest, err := os.ReadFile("../editors/vscode/package.json")
	if m := publisher.FindSubmatch(manifest); m == nil || string(m[1]) != owner {
		t.Errorf("the publisher of the extension is %q, want %q (%v)", m, owner, err)
	}
}
