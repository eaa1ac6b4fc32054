package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// markdownText escapes a message for a cell of a table: what is between backticks becomes code, and
// the rest is text.
//
// Characters with a meaning in Markdown or HTML become numeric character references, which
// CommonMark (section 2.5) never takes for markup, and which do not end a cell. Backslashes would
// do less: renderers disagree about \|, and a reference within <code> is not the same as in a span
// of backticks.
func markdownText(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(oneCell(s), "`") {
		switch {
		case part == "":
		case i%2 == 1:
			b.WriteString(asCode(part))
		default:
			b.WriteString(strings.ReplaceAll(references(part), at, "<code>"+at+"</code>"))
		}
	}
	return b.String()
}

// markdownCode escapes a name for a cell, as code; empty if it is empty.
func markdownCode(s string) string {
	if s = oneCell(s); s == "" {
		return ""
	}
	return asCode(s)
}

// at is the reference to @. GitHub and GitLab look for mentions and addresses of mail in a text
// whose references they have replaced already, so @ is an element apart from what is around it.
const at = "&#64;"

// asCode makes a code element of a text.
func asCode(s string) string {
	return "<code>" + strings.ReplaceAll(references(s), at, "</code><code>"+at+"</code><code>") +
		"</code>"
}

// oneCell makes one line of printable characters of a text, and shortens it to the width of a cell.
func oneCell(s string) string {
	return shorten(printable(strings.Join(strings.Fields(s), " ")), cellWidth)
}

// references writes each ASCII character that could be markup as a numeric reference. A period or a
// colon within a word could make it a link.
func references(s string) string {
	var b strings.Builder
	for i, r := range s {
		end := i+1 == len(s) || s[i+1] == ' '
		switch {
		case r >= utf8.RuneSelf, r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			strings.ContainsRune(" ,;()'-", r), (r == '.' || r == ':') && end:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String()
}
