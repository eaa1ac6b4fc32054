package table

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWrite(t *testing.T) {
	tab := Table{Indent: 2}
	tab.Add("code", "title")
	tab.Add("längst", "words that are broken where the width ends")
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "  code    title\n  längst  words that are broken where the width ends\n"},
		{34, "  code    title\n  längst  words that are broken\n          where the width ends\n"},
		// the least that the last column has
		{5, "  code    title\n  längst  words that are\n          broken where the\n          width ends\n"},
	} {
		var b strings.Builder
		if err := tab.Write(&b, c.width); err != nil || b.String() != c.want {
			t.Errorf("width %d: %v\n%s", c.width, err, b.String())
		}
	}
}

// Wrapping preserves the words, and only a line of one word can be too long.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zé]{1,12} ?){1,20}`).Draw(t, "text")
		width := rapid.IntRange(1, 30).Draw(t, "width")
		lines := Wrap(text, width)
		if got, want := strings.Join(lines, " "), strings.Join(strings.Fields(text), " "); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > width && strings.Contains(l, " ") {
				t.Fatalf("%q is longer than %d", l, width)
			}
		}
	})
}
