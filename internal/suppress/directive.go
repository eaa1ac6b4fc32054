// Package suppress reads heddle:ignore comments and says which findings they cover:
//
//	// heddle:ignore CODE[, CODE] REASON
//
// At the end of a line with code the comment is for the operations of that line; alone in its line it is for
// those of the next line that is not such a comment. A finding is covered if one of its operations is there and
// the comment names its code. A comment without a reason, or with a code that is none, covers nothing and is an
// error; one that covers nothing in a kernel that was checked is a warning.
package suppress

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// prefix begins a directive, right behind the comment marks and space.
const prefix = "heddle:ignore"

// directive is one comment.
type directive struct {
	codes  []diag.Code
	reason string
	span   source.Span // of the comment
	line   int         // whose operations it is for
	used   bool
}

// mistake is why a comment cannot be used.
type mistake struct{ msg, help string }

const form = "the form is: // heddle:ignore CODE[, CODE] REASON"

// isDirective reports whether the text of a comment is meant as a directive, and returns what follows.
func isDirective(text string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t/!"), prefix)
	return rest, ok && (rest == "" || strings.ContainsRune(" \t\r\v\f", rune(rest[0])))
}

// parse reads the codes and the reason of a directive.
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
			return nil, "", &mistake{fmt.Sprintf("%s is named twice", code), ""}
		}
		codes = append(codes, code)
		after, more := strings.CutPrefix(rest, ",")
		if !more {
			break
		}
		rest = strings.TrimSpace(after)
	}
	if first, _, _ := strings.Cut(rest, " "); isCode(first) {
		return nil, "", &mistake{fmt.Sprintf("a comma is missing between the codes %s and %s", codes[len(codes)-1], first), form}
	}
	reason = strings.TrimSpace(strings.TrimLeft(rest, ":- \t"))
	if reason == "" {
		return nil, "", &mistake{fmt.Sprintf("no reason is given for ignoring %s", list(codes, "and")), form}
	}
	return codes, reason, nil
}

func isCode(word string) bool {
	_, ok := diag.Lookup(diag.Code(word))
	return ok
}

// readCode reads the word in the place of a code.
func readCode(word string, another bool) (diag.Code, *mistake) {
	word = strings.TrimSuffix(word, ":")
	if word == "" {
		if another {
			return "", &mistake{"a code must follow the comma", form}
		}
		return "", &mistake{"heddle:ignore names no code", form}
	}
	doc, ok := diag.Lookup(diag.Code(word))
	switch {
	case !ok:
		help := "heddle explain lists the codes"
		if near := nearest(word); len(near) > 0 {
			help = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return "", &mistake{fmt.Sprintf("there is no code %q", word), help}
	case doc.Family != diag.Bugs:
		return "", &mistake{fmt.Sprintf("%s cannot be ignored: it is about %s", word, doc.Family), "heddle explain lists the codes"}
	}
	return doc.Code, nil
}

// nearest returns the codes of bugs that a word was probably meant to be: those with the fewest edits if these
// are few, else those that share a word with it.
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

// distance is the number of characters to insert, delete or replace between two words, or more than limit.
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

// list joins codes for a message.
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
