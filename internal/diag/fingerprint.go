package diag

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"heddle/internal/source"
)

// Fingerprint returns a name for a finding that survives moved lines: a hash of its code, its
// kernel, and for each place the operation and the text of the line, without white space and
// trailing comment. The order of the places does not matter, since it depends on the schedule. If
// the text of a file is unknown, the file name replaces the line.
//
// Two findings at lines with equal text share a fingerprint, so a baseline must count occurrences.
func Fingerprint(files *source.Set, d *Diagnostic) string {
	var ops [2]string
	if w := d.Witness; w != nil {
		ops = [2]string{w.Second.Op, w.First.Op} // Span is the second place, Related[0] the first
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
	if d.Witness == nil { // an error in the input: only the message identifies it
		parts = append(parts, d.Message)
	}
	return hashOf(parts...)
}

// verdictPrint is the fingerprint of a verdict. The file is no part of it, as for findings.
func verdictPrint(v *Verdict) string {
	return hashOf("heddle/1", verdictRule, v.Kind.String(), v.Kernel)
}

// hashOf returns the first 128 bits of a SHA-256 sum in hexadecimal digits.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{1})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// lineKey returns the part of a fingerprint that a place contributes: the text of its line without
// white space and without the comment after the operation.
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
	if n := strings.Index(line[op:], "//"); n >= 0 { // a comment after the operation
		line = line[:op+n]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
}
