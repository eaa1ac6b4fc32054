package edit

import (
	"bytes"
	"strings"

	"heddle/internal/source"
)

// Between returns edits that change the bytes [start, end) of f into text. The edits replace full
// lines, and only those that differ: lines of a longest common subsequence stay. If the texts are
// too long for computing one (mostCells), the edits replace all lines from the first to the last
// that differ.
func Between(f *source.File, start, end int, text string) []Edit {
	lineStart := bytes.LastIndexByte(f.Content[:start], '\n') + 1
	lineEnd := len(f.Content)
	if i := bytes.IndexByte(f.Content[end:], '\n'); i >= 0 {
		lineEnd = end + i + 1
	}
	old := splitLines(f.Content[lineStart:lineEnd])
	new := splitLines(
		[]byte(string(f.Content[lineStart:start]) + text + string(f.Content[end:lineEnd])))
	offsets := make([]int, len(old)+1)
	offsets[0] = lineStart
	for i, l := range old {
		offsets[i+1] = offsets[i] + len(l)
	}
	var out []Edit
	put := func(i, i2, j, j2 int) {
		if i == i2 && j == j2 {
			return
		}
		var b strings.Builder
		for _, l := range new[j:j2] {
			b.Write(l)
		}
		out = append(out, Edit{Span: source.Span{Start: f.PosAt(offsets[i]), End: f.PosAt(offsets[i2])},
			New: b.String()})
	}
	first := 0
	for first < len(old) && first < len(new) && bytes.Equal(old[first], new[first]) {
		first++
	}
	n, m := len(old), len(new)
	for n > first && m > first && bytes.Equal(old[n-1], new[m-1]) {
		n, m = n-1, m-1
	}
	if (n-first)*(m-first) > mostCells {
		put(first, n, first, m)
		return out
	}
	i, j := first, first // the first lines that are not matched yet
	for _, p := range common(old[first:n], new[first:m]) {
		put(i, p[0]+first, j, p[1]+first)
		i, j = p[0]+first+1, p[1]+first+1
	}
	put(i, n, j, m)
	return out
}

// mostCells bounds the cells of the table in common, 4 bytes each.
const mostCells = 4_000_000

// common returns the index pairs of a longest common subsequence of a and b, in increasing order,
// by the usual dynamic program: length[i][j] is its length for a[i:] and b[j:].
func common(a, b [][]byte) [][2]int {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if bytes.Equal(a[i], b[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case bytes.Equal(a[i], b[j]):
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
