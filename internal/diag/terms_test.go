package diag

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTermsAreComplete(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+([ -][a-z]+)*$`)
	seen := map[string]string{} // plain names, aliases and plurals among them, by term
	for _, d := range Terms() {
		if !form.MatchString(d.Name) {
			t.Errorf("%q is not a name in lower case", d.Name)
		}
		for _, n := range append([]string{d.Name}, d.Alias...) {
			if other, ok := seen[plainName(n)]; ok {
				t.Errorf("%q names %q and %q", n, other, d.Name)
			}
			seen[plainName(n)] = d.Name
			if got, ok := LookupTerm(strings.ToUpper(n)); !ok || got.Name != d.Name {
				t.Errorf("%q finds %q, not %q", n, got.Name, d.Name)
			}
		}
		if d.Title == "" || d.Text == "" || strings.HasSuffix(strings.TrimSpace(d.Title), ".") ||
			strings.Contains(d.Title, "\n") {
			t.Errorf("%s: the title is one line without a period, and a text is needed", d.Name)
		}
		for l := range strings.Lines(fill(d.Text)) {
			if len(strings.TrimSuffix(l, "\n")) > textWidth {
				t.Errorf("%s: a line of %d characters: %s", d.Name, len(l), l)
			}
		}
	}
	if len(verdictTerms) != len(verdictNames) {
		t.Errorf("%d verdicts are defined, there are %d", len(verdictTerms), len(verdictNames))
	}
	for k := Clean; k <= Unsupported; k++ {
		if !slices.ContainsFunc(verdictTerms, func(d Term) bool { return d.Name == k.String() }) {
			t.Errorf("%v is not defined", k)
		}
	}
}

// known reports whether heddle explain has an answer.
func known(name string) bool {
	_, isCode := Lookup(Code(name))
	_, isTerm := LookupTerm(name)
	return isCode || isTerm
}

// TestReferences finds references that lead nowhere: the list of a term, and "heddle explain X" or
// "see X" in the text of terms and codes.
func TestReferences(t *testing.T) {
	explain := regexp.MustCompile("heddle explain ([a-z][a-z -]*[a-z])")
	see := regexp.MustCompile(`(?i)\bsee(?: also)? ([a-z]+(?:-[a-z]+)+)\b`)
	check := func(where, text string) {
		for _, rx := range []*regexp.Regexp{explain, see} {
			for _, m := range rx.FindAllStringSubmatch(text, -1) {
				if !known(m[1]) && !strings.HasPrefix(m[1], "lists") {
					t.Errorf("%s: %q leads nowhere", where, m[0])
				}
			}
		}
	}
	for _, d := range Terms() {
		for _, n := range d.See {
			if !known(n) || n == d.Name {
				t.Errorf("%s: see %q leads nowhere", d.Name, n)
			}
		}
		check(d.Name, d.Text)
	}
	for _, d := range Docs() {
		check(string(d.Code), d.Text+" "+d.Fix)
	}
}

// TestExplainTerm looks at one term and at the list.
func TestExplainTerm(t *testing.T) {
	d, ok := LookupTerm("Barrier-Intervals")
	if !ok {
		t.Fatal("no barrier interval")
	}
	var b bytes.Buffer
	if err := ExplainTerm(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"barrier interval: ", "\n\nSee also: barrier, race.\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := List(&b, 0); err != nil {
		t.Fatal(err)
	}
	for _, d := range Terms() {
		if !strings.Contains(b.String(), "  "+d.Name+" ") {
			t.Errorf("%s is not listed", d.Name)
		}
	}
	if _, ok := LookupTerm("no such term"); ok {
		t.Error("a term that does not exist is defined")
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"race-shard", []string{"race-shared"}},
		{"intervall", []string{"barrier interval"}},
		{"verfied", []string{"verified"}},
		{"happens before relation", []string{"happens-before"}},
		{"morally", []string{"morally strong"}},
		{"xyzzy", nil},
		{"", nil},
	} {
		got := Nearest(c.name)
		first := got[:min(len(got), len(c.want))]
		if !slices.Equal(first, c.want) || len(c.want) == 0 && len(got) > 0 {
			t.Errorf("%q: %q, want %q first", c.name, got, c.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "abd", 1}, {"abc", "bc", 1}, {"kitten", "sitting", 3},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestWordsOfReports: words that reports use are explained.
func TestWordsOfReports(t *testing.T) {
	for _, word := range strings.Split(`
		verified, clean, bug, unknown, unsupported, race, data race, read-write, write-write,
		atomic-plain, intra-warp, intra-block, inter-block, branch-ordering, race levels,
		barrier interval, generation, recycling, launch, launch shape, grid, block, host code,
		guess, seed, schedule, step budget, oracle, witness, observed, confirmed, replay,
		counterexample, possible, warp model, lock step, lane, warp, happens-before, epoch,
		vector clock, morally strong, benign race, scope, named barrier, barrier divergence,
		deadlock, merge point, path, invariant, candidate, uniform, query, trace, slice,
		command, placement, cost, minimal, redundant barrier, fingerprint, baseline,
		suppression, asynchronous copy, non-coherent, fence, made-up inputs, alias, unknown
		value, atomic operation, work-item, mbarrier, phase, bulk copy, proxy fence`, ",") {
		if word = strings.Join(strings.Fields(word), " "); !known(word) {
			t.Errorf("%q is not explained", word)
		}
	}
}
