package mutate

import (
	"fmt"
	"strconv"
	"strings"
)

// A Key identifies a mutant by what it changes and not by its line.
type Key struct {
	File, Func, Text, Change string
	Nth                      int
}

// String is the key as a list of equivalent mutants has it.
func (k Key) String() string {
	s := fmt.Sprintf("%s %s: %s: %s", k.File, k.Func, k.Text, k.Change)
	if k.Nth > 1 {
		s += " #" + strconv.Itoa(k.Nth)
	}
	return s
}

// An Equivalent is a mutant that no test can notice.
type Equivalent struct {
	Key
	Reason string
	Line   int // in the list
}

// ParseEquivalent reads a list of equivalent mutants. An entry is a line with the key, as
// Key.String prints it, and indented lines with the reason. Lines that begin with # are comments.
// An error names the line.
func ParseEquivalent(text string) ([]Equivalent, error) {
	var list []Equivalent
	for i, line := range strings.Split(text, "\n") {
		words := strings.TrimSpace(line)
		switch {
		case words == "" || strings.HasPrefix(line, "#"):
		case words == strings.TrimRight(line, " "):
			k, err := parseKey(words)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			list = append(list, Equivalent{Key: k, Line: i + 1})
		case len(list) == 0:
			return nil, fmt.Errorf("line %d: a reason before the first entry", i+1)
		default:
			e := &list[len(list)-1]
			e.Reason = strings.TrimSpace(e.Reason + " " + words)
		}
	}
	for _, e := range list {
		if e.Reason == "" {
			return nil, fmt.Errorf("line %d: the entry has no reason below it", e.Line)
		}
	}
	return list, nil
}

// parseKey reads "FILE FUNC: CONDITION: CHANGE", with " #N" behind it if N is above 1.
func parseKey(s string) (Key, error) {
	k := Key{Nth: 1}
	if rest, nth, ok := cutLast(s, " #"); ok {
		n, err := strconv.Atoi(nth)
		if err != nil || n < 2 {
			return k, fmt.Errorf("want a number above 1 behind #, got %q", nth)
		}
		s, k.Nth = rest, n
	}
	place, rest, ok := strings.Cut(s, ": ")
	text, change, ok2 := cutLast(rest, ": ")
	file, fn, ok3 := strings.Cut(place, " ")
	if !ok || !ok2 || !ok3 {
		return k, fmt.Errorf("want FILE FUNC: CONDITION: CHANGE, got %q", s)
	}
	k.File, k.Func, k.Text, k.Change = file, fn, text, change
	return k, nil
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
