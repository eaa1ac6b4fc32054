package driver

import (
	"strconv"

	"heddle/internal/diag"
	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// CompilerLine is a line in which a compiler reports an error or a warning.
type CompilerLine struct {
	Span     source.Span
	Severity diag.Severity
	Text     string
}

// compilerLine matches such a line of clang (file:line:col: error: text) and of nvcc (file(line):
// error #n: text).
var compilerLine = lazyregexp.New(`^(.+?)[:(](\d+)(?::(\d+))?\)?: (?:fatal )?(error|warning)(?: #\S+)?: (.*)$`)

// ReadCompilerLine reads a line of the output of a compiler. ok is false for other lines, and for
// files that are not in the set, such as system headers.
func ReadCompilerLine(files *source.Set, line string) (out CompilerLine, ok bool) {
	m := compilerLine.FindStringSubmatch(line)
	if m == nil {
		return out, false
	}
	f := files.Named(m[1])
	if f == nil {
		return out, false
	}
	row, _ := strconv.Atoi(m[2]) // digits, and too many of them are a line that is not there
	col, _ := strconv.Atoi(m[3])
	out = CompilerLine{source.Span{Start: source.MakePos(f.ID, row, col)}, diag.Error, m[5]}
	if m[4] == "warning" {
		out.Severity = diag.Warning
	}
	return out, true
}
