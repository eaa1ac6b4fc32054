package edit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/source"
)

// contextLines is the number of unchanged lines before and after a change, as in diff -u.
const contextLines = 3

// Diff returns the edits of f as a unified diff that git apply and patch -p1 accept, with the paths
// a/NAME and b/NAME. The diff is empty if the edits change nothing. The edits determine the hunks;
// lines are compared only to trim those that an edit repeats at its start or end. Diff fails where
// Apply does.
func Diff(f *source.File, edits []Edit) (string, error) {
	changes, err := resolve(f, edits)
	if err != nil {
		return "", err
	}
	old := splitLines(f.Content)
	regions := lineRegions(f, old, changes)
	if len(regions) == 0 {
		return "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", diffName("a/", f.Name), diffName("b/", f.Name))
	shift := 0 // lines of the new text minus lines of the old text so far
	for len(regions) > 0 {
		n := 1 // regions whose contexts touch or overlap share a hunk
		for n < len(regions) && regions[n].first-regions[n-1].last <= 2*contextLines {
			n++
		}
		shift += writeHunk(&b, old, regions[:n], shift)
		regions = regions[n:]
	}
	return b.String(), nil
}

// region replaces the lines [first, last) of the old text, counted from 0.
type region struct {
	first, last int
	new         [][]byte // with their line breaks
}

// splitLines splits a text after each line break; the last line may lack one. An empty text has no
// lines.
func splitLines(b []byte) [][]byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	if n := len(lines) - 1; len(lines[n]) == 0 {
		lines = lines[:n]
	}
	return lines
}

// lineRegions extends the changes to full lines, joins changes that share a line, and drops lines
// that stay the same.
func lineRegions(f *source.File, old [][]byte, changes []change) []region {
	starts := make([]int, len(old)+1) // offset of each line; the last is the length of the text
	for i, l := range old {
		starts[i+1] = starts[i] + len(l)
	}
	var regions []region
	for i := 0; i < len(changes); {
		first := lineOf(f, starts, changes[i].start)
		last, at := first, starts[first]
		var text []byte
		for next := first; next < last || next == first || next == len(old) && last == next; {
			c := changes[i]
			text = append(append(text, f.Content[at:c.start]...), c.new...)
			at = c.end
			last = max(last, min(lineOf(f, starts, c.end)+1, len(old)))
			if i++; i == len(changes) {
				break
			}
			next = lineOf(f, starts, changes[i].start)
		}
		text = append(text, f.Content[at:starts[last]]...)
		if r, changed := trim(region{first, last, splitLines(text)}, old); changed {
			regions = append(regions, r)
		}
	}
	return regions
}

// lineOf returns the index of the line that contains the offset. At the end of a text that ends in
// a line break it returns the number of lines.
func lineOf(f *source.File, starts []int, offset int) int {
	line := f.PosAt(offset).Line() - 1
	return min(line, len(starts)-1)
}

// trim removes equal lines at both ends of a region, and reports whether a change is left.
func trim(r region, old [][]byte) (region, bool) {
	for r.first < r.last && len(r.new) > 0 && bytes.Equal(old[r.first], r.new[0]) {
		r.first++
		r.new = r.new[1:]
	}
	for r.first < r.last && len(r.new) > 0 && bytes.Equal(old[r.last-1], r.new[len(r.new)-1]) {
		r.last--
		r.new = r.new[:len(r.new)-1]
	}
	return r, r.first < r.last || len(r.new) > 0
}

// writeHunk writes the regions as one hunk, and returns the number of lines that it adds minus
// those it removes. shift is that number over all earlier hunks.
func writeHunk(b *strings.Builder, old [][]byte, regions []region, shift int) int {
	first := max(0, regions[0].first-contextLines)
	last := min(len(old), regions[len(regions)-1].last+contextLines)
	var body strings.Builder
	grown, at := 0, first
	for _, r := range regions {
		writeLines(&body, ' ', old[at:r.first])
		writeLines(&body, '-', old[r.first:r.last])
		writeLines(&body, '+', r.new)
		grown += len(r.new) - (r.last - r.first)
		at = r.last
	}
	writeLines(&body, ' ', old[at:last])
	fmt.Fprintf(b, "@@ -%s +%s @@\n", hunkRange(first, last-first),
		hunkRange(first+shift, last-first+grown))
	b.WriteString(body.String())
	return grown
}

// hunkRange formats the start and length of a hunk. The start counts from 1; for an empty range it
// is the line before the range, and a length of 1 is omitted, as in diff -u.
func hunkRange(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first)
	case 1:
		return strconv.Itoa(first + 1)
	}
	return fmt.Sprintf("%d,%d", first+1, n)
}

// writeLines writes each line after the mark ' ', '-' or '+', and notes a missing line break at the
// end.
func writeLines(b *strings.Builder, mark byte, lines [][]byte) {
	for _, l := range lines {
		b.WriteByte(mark)
		b.Write(l)
		if !bytes.HasSuffix(l, []byte("\n")) {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// diffName formats a path as git does: quoted like a C string if it contains control characters,
// quotes, backslashes or bytes that are not ASCII, and else followed by a tab if it contains a
// space.
func diffName(prefix, name string) string {
	name = prefix + strings.TrimPrefix(name, "/")
	special := func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c >= 0x7f }
	if strings.IndexFunc(name, special) < 0 {
		if strings.Contains(name, " ") {
			return name + "\t"
		}
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
