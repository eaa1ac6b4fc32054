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

// verdictRule is the rule of results that are no finding but a verdict.
const verdictRule = "verdict"

// SARIF collects findings and verdicts, and writes them when it is closed as one run of SARIF 2.1.0 (OASIS
// Standard, errata 01). Section numbers in this package's SARIF code are of that document.
type SARIF struct {
	w     io.Writer
	files *source.Set
	paths paths
	run   *sarif.Run
	inv   *sarif.Invocation
	seen  map[string]int // how often a fingerprint has come
}

// NewSARIF returns a renderer for positions of files. Names of files below base become relative to it. version is
// that of heddle.
func NewSARIF(w io.Writer, files *source.Set, base, version string) *SARIF {
	run := sarif.NewRun()
	driver := sarif.NewToolComponent().WithName("heddle").WithVersion(version).WithRules(rules())
	run.WithTool(sarif.NewTool().WithDriver(driver)).WithColumnKind("utf16CodeUnits")
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{
		srcRoot: *sarif.NewArtifactLocation().WithDescription(message("the directory in which heddle was started")),
	}
	inv := sarif.NewInvocation().WithExecutionSuccessful(true)
	run.AddInvocation(inv)
	return &SARIF{w: w, files: files, paths: paths{base}, run: run, inv: inv, seen: make(map[string]int)}
}

// rules are all codes, with what heddle explain says of them, and one more for verdicts.
func rules() []*sarif.ReportingDescriptor {
	var out []*sarif.ReportingDescriptor
	for _, d := range Docs() {
		var help strings.Builder
		_ = Explain(&help, d) // a Builder never fails
		level := sarif.LevelError
		if d.Code == CodeHostCode || d.Code == CodeSuppressionUnused {
			level = sarif.LevelWarning
		}
		out = append(out, rule(string(d.Code), d.Title, d.Text, help.String()).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level)))
	}
	const what = "What a run or a proof came to for one kernel: clean and verified are of kind pass, unknown and unsupported of kind open."
	return append(out, rule(verdictRule, "the verdict on a kernel", what, what+" LIMITATIONS.md says what each is worth."))
}

func rule(id, title, text, help string) *sarif.ReportingDescriptor {
	str := func(s string) *sarif.MultiformatMessageString {
		return sarif.NewMultiformatMessageString().WithText(s)
	}
	return sarif.NewRule(id).WithShortDescription(str(title)).WithFullDescription(str(text)).WithHelp(str(help))
}

var sarifLevels = [...]string{Note: sarif.LevelNote, Warning: sarif.LevelWarning, Error: sarif.LevelError}

// Finding adds a result of kind fail. A mistake in the input that is in no file becomes a notification.
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
		sup := sarif.NewSuppression().WithKind("inSource").WithJustification(p.Reason).WithStatus("accepted")
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
		bag.Add("seed", fmt.Sprint(w.Seed)) // as text: it has 64 bits
	}
	if len(bag.Properties) > 0 {
		r.WithProperties(bag)
	}
	s.fingerprint(r, Fingerprint(s.files, d))
	s.run.AddResult(r)
	return nil
}

// Verdict adds a result of kind pass or open (3.27.9). A bug has its findings, and only what else there is to
// know becomes a notification.
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
	r := s.result(verdictRule).WithKind(kind).WithLevel(sarif.LevelNone).WithMessage(message(text)).WithLocations([]*sarif.Location{loc})
	s.fingerprint(r, hashOf("heddle/1", verdictRule, name, v.Kernel))
	s.run.AddResult(r)
	return nil
}

// Close writes the log.
func (s *SARIF) Close() error {
	report := sarif.NewReport().AddRun(s.run)
	report.Schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	enc := json.NewEncoder(s.w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(report)
}

func (s *SARIF) result(rule string) *sarif.Result {
	index := slices.IndexFunc(s.run.Tool.Driver.Rules, func(r *sarif.ReportingDescriptor) bool { return *r.ID == rule })
	return sarif.NewRuleResult(rule).WithRuleIndex(index)
}

// fingerprint adds the identity of a result: ours, and for GitHub the same with a number that tells results with
// one fingerprint apart.
func (s *SARIF) fingerprint(r *sarif.Result, print string) {
	s.seen[print]++
	r.WithPartialFingerprints(map[string]string{
		FingerprintKey:            print,
		"primaryLocationLineHash": fmt.Sprintf("%s:%d", print, s.seen[print]),
	})
}

func (s *SARIF) notify(level string, code Code, text string) {
	n := sarif.NewNotification().WithLevel(level).WithMessage(message(text))
	if code != "" {
		n.WithAssociatedRule(sarif.NewReportingDescriptorReference().WithID(string(code)))
	}
	s.inv.AddToolExecutionNotification(n)
}

// message makes a message of plain text. Braces are doubled, since single ones are placeholders (3.11.5), and
// nothing becomes a link (3.11.6).
func message(text string) *sarif.Message {
	return sarif.NewTextMessage(messageEscapes.Replace(text))
}

var messageEscapes = strings.NewReplacer("{", "{{", "}", "}}", "](", `\](`)

// fullText is a finding in words: its message, and what does not have a place of its own in a format.
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
