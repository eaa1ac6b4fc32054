package driver

import (
	"errors"
	"slices"
)

// FailOn says which results of a run decide its exit code. Mistakes in flags and input, and errors
// of heddle itself, decide it in any case.
type FailOn uint8

// Each of error, warning and unknown includes the ones before it.
const (
	FailUnspecified FailOn = iota // as FailDefault, but a configuration may set another
	FailDefault                   // bugs, and kernels that are unknown or unsupported
	FailError                     // bugs
	FailWarning                   // and warnings
	FailUnknown                   // and kernels that are unknown or unsupported
	FailNever                     // nothing
)

// FailOnWords are the words that ParseFailOn reads.
var FailOnWords = []string{"default", "error", "warning", "unknown", "never"}

// ParseFailOn reads one of FailOnWords; the empty word is FailUnspecified.
func ParseFailOn(word string) (FailOn, error) {
	if word == "" {
		return FailUnspecified, nil
	}
	i := slices.Index(FailOnWords, word)
	if i < 0 {
		return 0, errors.New("expected one of default, error, warning, unknown, never")
	}
	return FailDefault + FailOn(i), nil
}

// Bugs reports whether a bug fails the run.
func (f FailOn) Bugs() bool { return f != FailNever }

// Warnings reports whether a warning does.
func (f FailOn) Warnings() bool { return f == FailWarning || f == FailUnknown }

// Unknown reports whether something that was not decided or not examined does.
func (f FailOn) Unknown() bool { return f <= FailDefault || f == FailUnknown }
