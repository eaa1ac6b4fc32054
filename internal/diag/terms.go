package diag

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"heddle/internal/table"
)

// Term is a word of a report that a reader may not know. Text is the only definition of it: heddle
// explain prints it, docs/glossary.md and docs/verdicts.md show it.
type Term struct {
	Name  string // in lower case, as reports write it, in the singular
	Group TermGroup
	Title string   // one line, no trailing period
	Text  string   // paragraphs, separated by an empty line; code in braces, shown in backquotes
	See   []string // other terms, or codes
	Alias []string // other names by which it is found
}

// TermGroup orders the glossary by what a reader is looking at.
type TermGroup uint8

// The groups of terms, in the order of the glossary.
const (
	VerdictTerms TermGroup = iota
	RaceTerms
	BarrierTerms
	RunTerms
	ProofTerms
	RepairTerms
)

// String is the heading of the group.
func (g TermGroup) String() string {
	return [...]string{
		"verdicts", "races and order", "barriers", "launches and runs", "proofs and traces",
		"repair, placement and known findings",
	}[g]
}

// Terms returns all terms, in the order of the glossary.
func Terms() []Term {
	return slices.Concat(verdictTerms, raceTerms, barrierTerms, runTerms, proofTerms, repairTerms)
}

// LookupTerm returns the term of a name: in any case, with hyphens for spaces, in the plural too.
func LookupTerm(name string) (Term, bool) {
	name = plainName(name)
	for _, t := range Terms() {
		for _, n := range append([]string{t.Name}, t.Alias...) {
			if n = plainName(n); name == n || name == n+"s" || name == n+"es" {
				return t, true
			}
		}
	}
	return Term{}, false
}

// plainName is a name as names are compared: lower case, words separated by one space.
func plainName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(c rune) bool {
		return c == ' ' || c == '-' || c == '_'
	}), " ")
}

// ExplainTerm prints one term.
func ExplainTerm(w io.Writer, t Term) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n%s", t.Name, t.Title, fill(t.Text))
	if len(t.See) > 0 {
		fmt.Fprintf(b, "\n%s", fill("See also: "+strings.Join(t.See, ", ")+"."))
	}
	return b.Flush()
}

// listTerms prints the names and titles of all terms, in lines of at most width characters.
func listTerms(w io.Writer, width int) error {
	for g := range RepairTerms + 1 {
		fmt.Fprintf(w, "%s\n", g)
		t := table.Table{Indent: 2}
		for _, d := range Terms() {
			if d.Group == g {
				t.Add(fmt.Sprintf("%-22s", d.Name), d.Title)
			}
		}
		if err := t.Write(w, width); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
}

// Nearest returns the codes and terms whose names are most like a name that is neither, the best
// first: at most four.
func Nearest(name string) []string {
	type candidate struct {
		name string
		cost int
	}
	if plainName(name) == "" {
		return nil
	}
	var near []candidate
	add := func(shown, alias string) {
		a, b := plainName(name), plainName(alias)
		cost := editDistance(a, b)
		if limit := max(2, len(b)/3); cost > limit {
			if len(a) < 4 || !strings.Contains(b, a) && !strings.Contains(a, b) {
				return
			}
			cost = limit + 1
		}
		i := slices.IndexFunc(near, func(c candidate) bool { return c.name == shown })
		switch {
		case i < 0:
			near = append(near, candidate{shown, cost})
		case cost < near[i].cost:
			near[i].cost = cost
		}
	}
	for _, d := range Docs() {
		add(string(d.Code), string(d.Code))
	}
	for _, t := range Terms() {
		for _, n := range append([]string{t.Name}, t.Alias...) {
			add(t.Name, n)
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.cost - b.cost })
	var out []string
	for _, c := range near[:min(len(near), 4)] {
		out = append(out, c.name)
	}
	return out
}

// editDistance counts the bytes to insert, delete or replace that turn a into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0] // row[j] of the shorter prefix of a
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// WriteGlossary writes docs/glossary.md.
func WriteGlossary(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, `# Glossary

The words of heddle's reports. `+"`heddle explain TERM`"+` prints the same text;
`+"`make docs`"+` writes this page from it. The codes of findings have pages of their own:
`+"`heddle explain CODE`"+`, with an example and its repair.
`)
	for g := range RepairTerms + 1 {
		fmt.Fprintf(b, "\n## %s\n", capital(g.String()))
		for _, t := range Terms() {
			if t.Group == g {
				fmt.Fprintf(b, "\n### %s\n\n%s", t.Name, t.markdown())
				if len(t.See) > 0 {
					fmt.Fprintf(b, "\n%s", fill("See also: "+strings.Join(links(t.See), ", ")+"."))
				}
			}
		}
	}
	return b.Flush()
}

// WriteVerdicts writes the definitions of the verdicts for docs/verdicts.md.
func WriteVerdicts(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, t := range verdictTerms {
		if i > 0 {
			fmt.Fprintln(b)
		}
		fmt.Fprintf(b, "### %s\n\n%s", t.Name, t.markdown())
	}
	return b.Flush()
}

// textWidth is the width of texts in columns.
const textWidth = 96

// fill breaks the lines of paragraphs anew, and puts code in backquotes.
func fill(text string) string {
	var b strings.Builder
	text = strings.NewReplacer("{", "`", "}", "`").Replace(text)
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, l := range table.Wrap(strings.Join(strings.Fields(p), " "), textWidth) {
			b.WriteString(strings.TrimRight(l, " ") + "\n")
		}
	}
	return b.String()
}

// markdown is the definition with the title in front, as the documents show it.
func (t *Term) markdown() string { return fill("*" + capital(t.Title) + ".* " + t.Text) }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// links makes a link within the page of each term; codes are code.
func links(names []string) []string {
	var out []string
	for _, n := range names {
		if t, ok := LookupTerm(n); ok {
			out = append(out, fmt.Sprintf("[%s](#%s)", n, t.anchor()))
		} else {
			out = append(out, "`"+n+"`")
		}
	}
	return out
}
