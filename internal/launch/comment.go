package launch

import (
	"bytes"
	"strings"

	"heddle/internal/source"
)

// Comment is a // comment of a file.
type Comment struct {
	Text  string      // after the two slashes
	Span  source.Span // with the slashes
	Alone bool        // only white space precedes it in its line
}

// LineComments returns the // comments of CUDA, OpenCL or PTX text in order, and the # comments of
// a Python file. It skips strings and block comments, in which // does not start a comment. It
// accepts any bytes.
func LineComments(f *source.File, ptx bool) []Comment {
	if source.PythonName(f.Name) {
		return pythonComments(f)
	}
	var out []Comment
	for _, t := range scanAll(f.Content, ptx) {
		if t.kind != tokComment || f.Content[t.start+1] != '/' {
			continue
		}
		out = append(out, commentAt(f, t.start, t.end, t.text))
	}
	return out
}

// commentAt returns the comment in a range of a file.
func commentAt(f *source.File, start, end int, text string) Comment {
	c := Comment{Text: text, Span: spanOf(f, start, end), Alone: true}
	for i := start - 1; i >= 0 && f.Content[i] != '\n'; i-- {
		c.Alone = c.Alone && isSpace(f.Content[i])
	}
	return c
}

// pythonComments returns the comments of Python text. A string ends at its quotes, one that does
// not have three of them also at the end of its line.
func pythonComments(f *source.File) []Comment {
	var out []Comment
	text := f.Content
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '#':
			end := i
			for end < len(text) && text[end] != '\n' {
				end++
			}
			body := strings.TrimRight(string(text[i+1:end]), "\r")
			out = append(out, commentAt(f, i, end, body))
			i = end
		case '"', '\'':
			i = pythonString(text, i)
		default:
			i++
		}
	}
	return out
}

// pythonString returns the offset behind the string that begins at i.
func pythonString(text []byte, i int) int {
	quote := text[i : i+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(text[i:], long) {
		quote = long
	}
	for i += len(quote); i < len(text); i++ {
		switch {
		case bytes.HasPrefix(text[i:], quote):
			return i + len(quote)
		case text[i] == '\\':
			i++ // what follows ends nothing, in raw strings too
		case text[i] == '\n' && len(quote) == 1:
			return i
		}
	}
	return len(text)
}
