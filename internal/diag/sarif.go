package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

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
// relative to it; other names are absolute URIs. version is the version of heddle.
func NewSARIF(w io.Writer, files *source.Set, base, version string) *SARIF {
	run := sarif.NewRun()
	driver := sarif.NewToolComponent().WithName("heddle").WithVersion(version).WithRules(rules())
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
func rules() []*sarif.ReportingDescriptor {
	var out []*sarif.ReportingDescriptor
	for _, d := range Docs() {
		var help strings.Builder
		_ = Explain(&help, d) // writes to a Builder cannot fail
		level := sarif.LevelError
		if d.Code == CodeHostCode || d.Code == CodeSuppressionUnused {
			level = sarif.LevelWarning
		}
		out = append(out, rule(string(d.Code), d.Title, d.Text, help.String()).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level)))
	}
	const what = "The result of a run or a proof for one kernel. Clean and verified have kind pass, " +
		"unknown and unsupported have kind open."
	return append(out, rule(verdictRule, "the verdict on a kernel", what,
		what+" docs/verdicts.md defines the verdicts."))
}

// rule makes a rule; SARIF viewers show the title in lists and the help on request.
func rule(id, title, text, help string) *sarif.ReportingDescriptor {
	str := func(s string) *sarif.MultiformatMessageString {
		return sarif.NewMultiformatMessageString().WithText(s)
	}
	return sarif.NewRule(id).WithShortDescription(str(title)).WithFullDescription(str(text)).
		WithHelp(str(help))
}

var sarifLevels = [...]string{Note: sarif.LevelNote, Warning: sarif.LevelWarning,
	Error: sarif.LevelError}

// Finding adds a result of kind fail. An error in the input without a file becomes a notification
// of the invocation, since a result needs a location.
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
	s.fingerprint(r, hashOf("heddle/1", verdictRule, name, v.Kernel))
	s.run.AddResult(r)
	return nil
}

// Close writes the log. It is called once.
func (s *SARIF) Close() error {
	report := sarif.NewReport().AddRun(s.run)
	report.Schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	enc := json.NewEncoder(s.w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(report)
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
	lines = append(lines, d.Notes...)
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
