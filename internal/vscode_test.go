package internal

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// TestVSCode builds and tests the extension for Visual Studio Code in a new checkout, so that
// nothing it needs is missing from the repository, and that the build leaves nothing behind that
// git sees.
func TestVSCode(t *testing.T) {
	if !long.All() {
		t.Skip("npm fetches packages; HEDDLE_LONG=1")
	}
	for _, name := range []string{"node", "npm", "make"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s", name)
		}
	}
	dir := filepath.Join(t.TempDir(), "heddle")
	command(t, "..", nil, "git", "clone", "-q", ".", dir)
	out := command(t, dir, nil, "make", "vscode")
	if !strings.Contains(out, "# fail 0") || strings.Contains(out, "# pass 0") {
		t.Errorf("the tests of the extension did not run:\n%s", out)
	}
	if out := command(t, dir, nil, "git", "status", "--porcelain"); out != "" {
		t.Errorf("the build leaves files: %s", out)
	}
}
