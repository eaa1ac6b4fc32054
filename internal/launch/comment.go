package launch

import "heddle/internal/source"

// Comment is a // comment of a file.
type Comment struct {
	Text  string      // after the two slashes
	Span  source.Span // with the slashes
	Alone bool        // only white space precedes it in its line
}

// LineComments returns the // comments of CUDA, OpenCL or PTX text in order. It skips strings and
// block comments, in which // does not start a comment. It accepts any bytes.
func LineComments(f *source.File, ptx bool) []Comment {
	var out []Comment
	for _, t := range scanAll(f.Content, ptx) {
		if t.kind != tokComment || f.Content[t.start+1] != '/' {
			continue
		}
		c := Comment{Text: t.text, Span: spanOf(f, t.start, t.end), Alone: true}
		for i := t.start - 1; i >= 0 && f.Content[i] != '\n'; i-- {
			c.Alone = c.Alone && isSpace(f.Content[i])
		}
		out = append(out, c)
	}
	return out
}
