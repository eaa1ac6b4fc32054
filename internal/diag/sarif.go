package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"golang.org/x/mod/semver"

	"heddle/internal/source"
)

// FingerprintKey is the key of Fingerprint in the partialFingerprints of a SARIF result.
const FingerprintKey = "heddleFinding/v1"

// verdictRule is the rule of results that report a verdict instead of a finding.
const verdictRule = "verdict"

// SARIF collects findings and verdicts, and Close writes them as one run of SARIF 2.1.0 (OASIS
// Standard, errata 01). Section numbers in the SARIF code of this package refer to that document.
type SARIF struct {
	w     io.Writer
	files *source.Set
	paths paths
	run   *sarif.Run
	inv   *sarif.Invocation
	seen  map[string]int // occurrences of each fingerprint
}

// NewSARIF returns a renderer that resolves positions in files. Names of files below base become
// relative to it; other names are absolute URIs. version is the version of heddle. With a site, each
// rule links to its page there; without one nothing does, since helpUri must be absolute (3.49.12).
func NewSARIF(w io.Writer, files *source.Set, base, version string, site Site) *SARIF {
	run := sarif.NewRun()
	driver := sarif.NewToolComponent().WithName("heddle").WithVersion(version).
		WithRules(rules(site))
	if site != "" {
		driver.WithInformationURI(string(site))
	}
	if v := strings.TrimPrefix(version, "v"); semver.IsValid("v" + v) {
		driver.WithSemanticVersion(v)
	}
	run.WithTool(sarif.NewTool().WithDriver(driver)).WithColumnKind("utf16CodeUnits")
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{
		srcRoot: *sarif.NewArtifactLocation().WithDescription(message("the working directory of heddle")),
	}
	inv := sarif.NewInvocation().WithExecutionSuccessful(true)
	run.AddInvocation(inv)
	return &SARIF{w: w, files: files, paths: paths{base}, run: run, inv: inv,
		seen: make(map[string]int)}
}

// rules returns a rule for each code, with its documentation as help, and one rule for verdicts.
func rules(site Site) []*sarif.ReportingDescriptor {
	var out []*sarif.ReportingDescriptor
	for _, d := range Docs() {
		var help strings.Builder
		_ = Explain(&help, d) // writes to a Builder cannot fail
		level := sarif.LevelError
		if d.Code == CodeHostCode || d.Code == CodeSuppressionUnused {
			level = sarif.LevelWarning
		}
		bag := sarif.NewPropertyBag().WithTags(tags[d.Family])
		if d.Family == Bugs { // as code scanning reads it: what rests on a guess is a warning
			bag.Add("precision", "very-high")
		}
		bag.Add("problem.severity", level)
		r := rule(string(d.Code), d.Title, d.Text, help.String(), markdown(d)).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level)).
			WithProperties(bag)
		if site != "" {
			r.WithHelpURI(site.Page(string(d.Code)))
		}
		out = append(out, r)
	}
	const what = "The result of a run or a proof for one kernel. Clean and verified have kind pass, " +
		"unknown and unsupported have kind open."
	const help = what + " docs/verdicts.md defines the verdicts."
	verdicts := rule(verdictRule, "the verdict on a kernel", what, help, help)
	if site != "" {
		verdicts.WithHelpURI(site.url(verdictsPage))
	}
	return append(out, verdicts)
}

// tags are those of the rules of a family, by which viewers filter.
var tags = [...][]string{
	Bugs:   {"cuda", "concurrency", "correctness"},
	Limits: {"cuda", "coverage"},
	Inputs: {"cuda", "configuration"},
}

// markdown is Explain in Markdown.
func markdown(d Doc) string {
	var b strings.Builder
	example := func(e Example) {
		fmt.Fprintf(&b, "```\n$ %s\n```\n", e.CommandLine())
		if e.Text != "" {
			fmt.Fprintf(&b, "```cuda\n%s\n```\n", strings.TrimRight(e.Text, "\n"))
		}
	}
	fmt.Fprintf(&b, "# %s: %s\n\n%s\n\n## What to do\n\n%s\n\n## Example\n\n", d.Code,
		Prose(d.Title, nil), Prose(d.Text, nil), Prose(d.Fix, nil))
	example(d.Example)
	fmt.Fprint(&b, "\nThe same after the repair:\n\n")
	example(d.Repaired())
	return b.String()
}

// rule makes a rule; SARIF viewers show the title in lists and the help on request.
func rule(id, title, text, help, markdown string) *sarif.ReportingDescriptor {
	str := func(s string) *sarif.MultiformatMessageString {
		return sarif.NewMultiformatMessageString().WithText(s)
	}
	return sarif.NewRule(id).WithShortDescription(str(title)).WithFullDescription(str(text)).
		WithHelp(str(help).WithMarkdown(markdown))
}

var sarifLevels = [...]string{Note: sarif.LevelNote, Warning: sarif.LevelWarning,
	Error: sarif.LevelError}

// Finding adds a result of kind fail; of kind informational for a note, which tells of no problem. An
// error in the input without a file becomes a notification of the invocation, since a result needs a
// location.
func (s *SARIF) Finding(d *Diagnostic) error {
	level := sarifLevels[min(d.Severity, Error)]
	if d.Code.Family() == Inputs && d.Severity == Error {
		s.inv.WithExecutionSuccessful(false)
	}
	loc := s.location(d.Span, d.Input)
	if loc == nil {
		s.notify(level, d.Code, fullText(d))
		return nil
	}
	r := s.result(string(d.Code)).WithLevel(level).WithMessage(message(fullText(d)))
	if d.Severity == Note {
		r.WithKind("informational").WithLevel(sarif.LevelNone) // 3.27.10: only fail has a level
	}
	s.logical(loc, d.Kernel)
	r.AddLocation(loc)
	for i, p := range d.operations() {
		if l := s.location(p.span, ""); l != nil {
			r.AddRelatedLocation(l.WithID(i + 1).WithMessage(message(p.text)))
		}
		if st := s.stack(p); st != nil {
			r.AddStack(st)
		}
	}
	if flow := s.codeFlow(d); flow != nil {
		r.AddCodeFlow(flow)
	}
	for i := range d.Fixes {
		if f := s.fix(&d.Fixes[i]); f != nil {
			r.AddFixe(f)
		}
	}
	if d.Count > 0 {
		r.WithOccurrenceCount(int(min(d.Count, 1<<53)))
	}
	if p := d.Suppressed; p != nil {
		sup := sarif.NewSuppression().WithKind("inSource").WithJustification(p.Reason).
			WithStatus("accepted")
		if l := s.location(p.Span, ""); l != nil {
			sup.WithLocation(l)
		}
		r.AddSuppression(sup)
	}
	bag := sarif.NewPropertyBag()
	if d.Reproduce != "" {
		bag.Add("reproduce", d.Reproduce)
	}
	if w := d.Witness; w != nil {
		bag.Add("launch", w.Launch)
		bag.Add("seed", fmt.Sprint(w.Seed)) // as text: JSON numbers lose bits above 2^53
	}
	if len(bag.Properties) > 0 {
		r.WithProperties(bag)
	}
	s.fingerprint(r, Fingerprint(s.files, d))
	s.run.AddResult(r)
	return nil
}

// Verdict adds a result of kind pass or open (3.27.9). A bug adds none, since its findings are
// results; its reason and its hidden findings become a notification.
func (s *SARIF) Verdict(v *Verdict) error {
	kind, name := "pass", v.Kind.String()
	text := name + ": " + v.Text()
	switch v.Kind {
	case Bug:
		if v.Reason != "" || v.Suppressed+v.Known > 0 {
			s.notify(sarif.LevelNote, "", text)
		}
		return nil
	case Unknown, Unsupported:
		kind = "open"
	}
	loc := s.location(v.Span, v.Input)
	if loc == nil {
		s.notify(sarif.LevelNote, "", text)
		return nil
	}
	s.logical(loc, v.Kernel)
	r := s.result(verdictRule).WithKind(kind).WithLevel(sarif.LevelNone).WithMessage(message(text)).
		WithLocations([]*sarif.Location{loc})
	s.fingerprint(r, verdictPrint(v))
	s.run.AddResult(r)
	return nil
}

// Close writes the log. It is called once.
func (s *SARIF) Close() error {
	report := sarif.NewReport().AddRun(s.run)
	report.Schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	var log any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&log); err != nil {
		return err
	}
	withoutDefaults(log)
	enc := json.NewEncoder(s.w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(log)
}

// withoutDefaults removes the properties by which the library says that there is nothing: indices of
// -1 and empty arrays. An empty array of results says that there are none, and stays.
func withoutDefaults(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			withoutDefaults(e)
		}
	case map[string]any:
		for key, e := range v {
			list, isList := e.([]any)
			if e == json.Number("-1") || isList && len(list) == 0 && key != "results" {
				delete(v, key)
			} else if key != "properties" { // those are ours
				withoutDefaults(e)
			}
		}
	}
}

// result makes a result of a rule. The index spares viewers a search.
func (s *SARIF) result(rule string) *sarif.Result {
	index := slices.IndexFunc(s.run.Tool.Driver.Rules,
		func(r *sarif.ReportingDescriptor) bool { return *r.ID == rule })
	return sarif.NewRuleResult(rule).WithRuleIndex(index)
}

// fingerprint adds the identity of a result: ours under FingerprintKey, and the same with a counter
// under the key that GitHub reads, because GitHub drops results with equal fingerprints.
func (s *SARIF) fingerprint(r *sarif.Result, print string) {
	s.seen[print]++
	r.WithPartialFingerprints(map[string]string{
		FingerprintKey:            print,
		"primaryLocationLineHash": fmt.Sprintf("%s:%d", print, s.seen[print]),
	})
}

// notify adds a notification of the invocation, which needs no location.
func (s *SARIF) notify(level string, code Code, text string) {
	n := sarif.NewNotification().WithLevel(level).WithMessage(message(text))
	if code != "" {
		n.WithAssociatedRule(sarif.NewReportingDescriptorReference().WithID(string(code)))
	}
	s.inv.AddToolExecutionNotification(n)
}

// message makes a SARIF message from plain text. It doubles braces, since single braces are
// placeholders (3.11.5), and escapes what would become a link (3.11.6).
func message(text string) *sarif.Message {
	return sarif.NewTextMessage(messageEscapes.Replace(text))
}

var messageEscapes = strings.NewReplacer("{", "{{", "}", "}}", "](", `\](`)

// fullText returns the message of a finding and the parts for which many formats have no field:
// notes, help, fixes and the command that reproduces it.
func fullText(d *Diagnostic) string {
	lines := []string{d.Message}
	lines = append(lines, d.Remarks()...)
	for _, h := range d.Help {
		lines = append(lines, "help: "+h)
	}
	for _, f := range d.Fixes {
		lines = append(lines, "help: "+f.Message)
	}
	if d.Reproduce != "" {
		lines = append(lines, "reproduce: "+d.Reproduce)
	}
	return strings.Join(lines, "\n")
}
