package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestLicences: the text begins with heddle's own licence, has Go's, those of modules that every
// binary contains, and of one that only Windows needs; none of a module that only tests use.
func TestLicences(t *testing.T) {
	t.Chdir("../..")
	var b bytes.Buffer
	if err := printAll(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	rule := strings.Repeat("=", 80) + "\n"
	parts := strings.Split(text, "\n"+rule)
	if len(parts) < 10 || !strings.HasPrefix(parts[1], "heddle, LICENSE\n") ||
		!strings.Contains(parts[1], "Apache License") {
		t.Errorf("%d parts, the first:\n%.200s", len(parts), parts[1])
	}
	for _, want := range []string{"Go, its standard library, LICENSE\n", "github.com/spf13/cobra v",
		"github.com/klauspost/compress v", "github.com/inconshreveable/mousetrap v"} {
		if !strings.Contains(text, rule+want) {
			t.Errorf("no licence of %s", want)
		}
	}
	for _, test := range []string{"pgregory.net/rapid", "honnef.co/go/tools"} {
		if strings.Contains(text, test) {
			t.Errorf("a licence of %s, which is in no binary", test)
		}
	}
}
