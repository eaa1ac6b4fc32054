package diag

import (
	"strings"

	"heddle/internal/lazyregexp"
)

var (
	// proseCode matches what is code in plain text: code in backquotes, flags, calls, reserved names,
	// the CUDA API, PTX operations, and commands of heddle.
	proseCode = lazyregexp.New("`[^`]+`" + `|--[a-z][a-z-]*(?: lockstep| \w+=[\w:]+)?` +
		`|\b[a-z_][\w:]*\(\)|\b__\w+|\bcuda(?:[A-Z]\w+|::\w+)` +
		`|\b(?:cp|bar|ld|st)\.[a-z_.]*[a-z_]|\bheddle (?:exec|explain [A-Z]+)\b`)
	proseSpecial = lazyregexp.New("[\\\\`*_{}\\[\\]<>&#!|~]")
	proseList    = lazyregexp.New(`^( *)(?:([0-9]+)([.)](?:\s|$))|([-+=]))`)
	proseWord    = lazyregexp.New(`\b[a-z]+(?:-[a-z]+)+\b`)
)

// Prose turns plain text into Markdown that shows it: what is code becomes code, names of codes as
// well, and nothing else has a meaning (CommonMark 2.4). Paragraphs that begin with four spaces are
// code. other changes the parts that are not code, for example to make links; nil: they stay.
func Prose(text string, other func(string) string) string {
	parts := strings.Split(text, "\n\n")
	for i, p := range parts {
		if !strings.HasPrefix(p, "    ") {
			parts[i] = paragraph(p, other)
		}
	}
	return strings.Join(parts, "\n\n")
}

// paragraph is Prose for one paragraph.
func paragraph(text string, other func(string) string) string {
	var b strings.Builder
	plain := func(from, to int) {
		lines := strings.SplitAfter(proseSpecial.ReplaceAllString(text[from:to], `\$0`), "\n")
		for i := range lines {
			if i > 0 || from == 0 || text[from-1] == '\n' { // marks of lists and headings
				lines[i] = proseList.ReplaceAllString(lines[i], `$1$2\$3$4`)
			}
		}
		s := strings.Join(lines, "")
		if other != nil {
			s = other(s)
		}
		b.WriteString(proseWord.ReplaceAllStringFunc(s, func(name string) string {
			if _, ok := Lookup(Code(name)); !ok {
				return name
			}
			return "`" + name + "`"
		}))
	}
	at := 0
	for _, m := range proseCode.FindAllStringIndex(text, -1) {
		plain(at, m[0])
		b.WriteString("`" + strings.Trim(text[m[0]:m[1]], "`") + "`")
		at = m[1]
	}
	plain(at, len(text))
	return b.String()
}
