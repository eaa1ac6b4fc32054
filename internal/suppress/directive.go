// Package suppress reads heddle:ignore comments and matches findings against them:
//
//	// heddle:ignore CODE[, CODE] REASON
//
// A comment at the end of a line with code applies to the operations of that line. A comment on a
// line of its own applies to the next line that is not such a comment. A finding is suppressed if
// the comment names its code and applies to one of its operations.
//
// A comment without a reason, or with an unknown code, is an error and suppresses nothing. A
// comment that suppresses nothing although the kernel was checked is a warning: it would hide a bug
// that is introduced there later.
package suppress

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// prefix starts a directive, after the comment marks and white space.
const prefix = "heddle:ignore"

// directive is one valid comment.
type directive struct {
	codes  []diag.Code // what it suppresses, at least one
	reason string      // never empty
	span   source.Span // of the comment
	line   int         // it applies to the operations of this line
	used   bool        // it has matched a finding
}

// mistake is the reason why a comment is invalid, and how to correct it; help may be empty.
type mistake struct{ msg, help string }

// form is the help for comments of the wrong form.
const form = "the form is: // heddle:ignore CODE[, CODE] REASON"

// isDirective reports whether the text of a comment is meant as a directive, and returns the text
// after the prefix. The marks of documentation comments, /// and //!, may precede it.
func isDirective(text string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t/!"), prefix)
	return rest, ok && (rest == "" || strings.ContainsRune(" \t\r\v\f", rune(rest[0])))
}

// parse parses the codes and the reason of a directive.
func parse(text string) (codes []diag.Code, reason string, err *mistake) {
	rest := strings.TrimSpace(text)
	for {
		word := rest
		if n := strings.IndexAny(rest, ", \t\r\v\f"); n >= 0 {
			word = rest[:n]
		}
		rest = strings.TrimSpace(rest[len(word):])
		code, err := readCode(word, len(codes) > 0)
		if err != nil {
			return nil, "", err
		}
		if slices.Contains(codes, code) {
			return nil, "", &mistake{fmt.Sprintf("heddle:ignore names %s twice", code), ""}
		}
		codes = append(codes, code)
		after, more := strings.CutPrefix(rest, ",")
		if !more {
			break
		}
		rest = strings.TrimSpace(after)
	}
	if first, _, _ := strings.Cut(rest, " "); isCode(first) {
		return nil, "", &mistake{fmt.Sprintf("a comma is missing between the codes %s and %s",
			codes[len(codes)-1], first), form}
	}
	reason = strings.TrimSpace(strings.TrimLeft(rest, ":- \t"))
	if reason == "" {
		return nil, "", &mistake{fmt.Sprintf("heddle:ignore gives no reason for ignoring %s",
			list(codes, "and")), form}
	}
	return codes, reason, nil
}

// isCode reports whether word is a code of any kind.
func isCode(word string) bool {
	_, ok := diag.Lookup(diag.Code(word))
	return ok
}

// readCode parses one word as a code. another is set after a comma.
func readCode(word string, another bool) (diag.Code, *mistake) {
	word = strings.TrimSuffix(word, ":")
	if word == "" {
		if another {
			return "", &mistake{"heddle:ignore has no code after the comma", form}
		}
		return "", &mistake{"heddle:ignore names no code", form}
	}
	doc, ok := diag.Lookup(diag.Code(word))
	switch {
	case !ok:
		help := "'heddle explain' lists the codes"
		if near := nearest(word); len(near) > 0 {
			help = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return "", &mistake{fmt.Sprintf("heddle has no code %q", word), help}
	case doc.Family != diag.Bugs:
		return "", &mistake{fmt.Sprintf("%s cannot be ignored: it is about %s, not a bug", word,
			doc.Family), "'heddle explain' lists the codes"}
	}
	return doc.Code, nil
}

// nearest returns the codes of bugs that word is probably meant to be: those at the smallest edit
// distance, up to a third of its length; if there are none, those that share a word with it.
func nearest(word string) []string {
	best := max(len(word)/3, 1)
	var out []string
	for _, d := range diag.Docs() {
		if d.Family != diag.Bugs {
			continue
		}
		switch n := distance(strings.ToLower(word), string(d.Code), best); {
		case n < best:
			best, out = n, []string{string(d.Code)}
		case n == best:
			out = append(out, string(d.Code))
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range diag.Similar(word) {
		if diag.Code(s).Family() == diag.Bugs {
			out = append(out, s)
		}
	}
	return out
}

// distance returns the Levenshtein distance of two words, in bytes: the fewest insertions,
// deletions and replacements that turn one into the other. Above limit it may return any larger
// number.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// list joins codes for a message, with last before the last one: "a, b and c".
func list(codes []diag.Code, last string) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = string(c)
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}
