package diag

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"heddle/internal/source"
)

// Fingerprint names a finding so that it is recognized when lines move: a hash of its code, its kernel, and for
// each of its places the operation and the text of its line without white space and without the comment at its
// end. The order of the places does not count, since it depends on the schedule. Where the text of a file is not
// known, its name stands for the line.
//
// Two findings at lines that read alike have one fingerprint, so that whoever compares fingerprints has to count.
func Fingerprint(files *source.Set, d *Diagnostic) string {
	var ops [2]string
	if w := d.Witness; w != nil {
		ops = [2]string{w.Second.Op, w.First.Op} // Span is the place of the second, Related[0] of the first
	}
	places := []string{ops[0] + "\x00" + lineKey(files, d.Span)}
	for i, r := range d.Related {
		op := ""
		if i == 0 {
			op = ops[1]
		}
		places = append(places, op+"\x00"+lineKey(files, r.Span))
	}
	slices.Sort(places)
	parts := append([]string{"heddle/1", string(d.Code), d.Kernel}, places...)
	if d.Witness == nil { // no operation: a mistake in the input, which its message tells from others
		parts = append(parts, d.Message)
	}
	return hashOf(parts...)
}

// hashOf is half a SHA-256 sum in hexadecimal digits.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{1})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// lineKey is what a fingerprint takes from a place.
func lineKey(files *source.Set, s source.Span) string {
	f := files.File(s.Start.File())
	if f == nil {
		return ""
	}
	line, ok := f.Line(s.Start.Line())
	if !ok {
		return f.Name
	}
	op := min(max(s.Start.Col()-1, 0), len(line))
	if n := strings.Index(line[op:], "//"); n >= 0 { // behind the operation: a comment
		line = line[:op+n]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
}
