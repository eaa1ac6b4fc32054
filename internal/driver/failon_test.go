package driver

import "testing"

// Each policy counts what the ones before it count and one kind more, except for the default, which
// leaves warnings out, and never, which counts nothing.
func TestFailOn(t *testing.T) {
	type counts struct{ bugs, warnings, unknown bool }
	for word, want := range map[string]counts{
		"": {true, false, true}, "default": {true, false, true}, "error": {true, false, false},
		"warning": {true, true, false}, "unknown": {true, true, true}, "never": {},
	} {
		f, err := ParseFailOn(word)
		if got := (counts{f.Bugs(), f.Warnings(), f.Unknown()}); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", word, got, err, want)
		}
	}
	if f, err := ParseFailOn("default"); f == FailUnspecified || err != nil {
		t.Error("default is unspecified; a configuration would override it")
	}
	if _, err := ParseFailOn("all"); err == nil {
		t.Error("no error for a word that does not exist")
	}
}
