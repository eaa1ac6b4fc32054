package driver

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/launch"
)

// A file may launch a kernel several times, with other shapes and arguments. Each launch is
// examined by a job of its own; the kernel gets one verdict, the worst of them, and each finding
// once.

// launches is what the jobs for the launches of one kernel share.
type launches struct {
	number   int                          // of launches
	configs  []*launch.Config             // of launches in host code; nil: those of a program
	aside    map[string]*diag.Suppression // findings that were set aside; nil: known before
	reported map[string]diag.Severity     // findings that were reported
	checked  []func(diag.Code) bool       // what each launch examined, see Checked
}

// EachLaunch examines the kernel for each of its launches in host code, or once if there is at most
// one that the request leaves different. It records one verdict.
func (j *Job) EachLaunch(examine func(*Job)) {
	if saved := j.savedLaunches(); len(saved) > 0 {
		var parts []Job
		var names []string
		for i, s := range saved {
			part := *j
			part.Launch.Saved = s
			parts = append(parts, part)
			names = append(names, fmt.Sprintf("launch %d of the program", i+1))
		}
		if len(parts) == 1 {
			j.Launch.Saved = saved[0]
			examine(j)
			return
		}
		j.examineParts(parts, nil, names, 0, examine)
		return
	}
	all, errs := launch.Launches(j.Kernel, j.Launch, j.Module.Facts)
	if len(errs) > 0 {
		for _, e := range errs {
			j.LaunchError(e)
		}
		return
	}
	for _, e := range all.Failed {
		j.note(e.Msg, e.Span)
	}
	if len(all.Configs) == 1 {
		j.Launch.Host = all.Configs[0].Host
		examine(j)
		return
	}
	var parts []Job
	var names []string
	for _, cfg := range all.Configs {
		part := *j
		part.Launch.Host = cfg.Host
		parts = append(parts, part)
		names = append(names, fmt.Sprintf("the launch in line %d", cfg.Launch.Start.Line()))
	}
	j.examineParts(parts, all.Configs, names, all.Left, examine)
}

// Share is the part of a number of steps for a whole kernel that falls to this job: its launches
// have equal parts.
func (j *Job) Share(steps uint64) uint64 {
	if j.launches == nil {
		return steps
	}
	return steps / uint64(j.launches.number)
}

// Launches are the launches in host code that are examined with this one, which is among them; nil
// if it is the only one.
func (j *Job) Launches() []*launch.Config {
	if j.launches == nil {
		return nil
	}
	return j.launches.configs
}

// savedLaunches returns the launches of the program for this kernel.
func (j *Job) savedLaunches() []*launch.Saved {
	if j.d.opt.Saved == nil || j.Launch.Saved != nil {
		return nil
	}
	return j.d.opt.Saved(j.Module.Name, j.Kernel)
}

// examineParts examines a job for each of several launches, which have names, and records one
// verdict. Nothing is known of left more launches, so that the kernel is neither verified nor
// clean.
func (j *Job) examineParts(parts []Job, configs []*launch.Config, names []string, left int,
	examine func(*Job)) {
	shared := &launches{
		number: len(parts), configs: configs,
		aside: make(map[string]*diag.Suppression), reported: make(map[string]diag.Severity),
	}
	sum := &Summary{}
	var lines []string
	for i := range parts {
		part := &parts[i]
		part.launches, part.sum, part.quiet = shared, &Summary{}, part.quiet || i > 0
		examine(part)
		sum.add(part.sum)
		for range part.sum.Verdicts {
			lines = append(lines, names[i])
		}
	}
	if len(sum.Verdicts) > 0 {
		sum.Verdicts = []diag.Verdict{apartFrom(worst(sum.Verdicts, lines), left, len(parts))}
	}
	j.sum.add(sum)
	j.Checked(func(c diag.Code) bool {
		for _, f := range shared.checked {
			if f == nil || !f(c) {
				return false
			}
		}
		return true
	})
}

// apartFrom returns a verdict on a kernel of whose launches the first were examined, and left were
// not.
func apartFrom(v diag.Verdict, left, examined int) diag.Verdict {
	if left == 0 || v.Kind != diag.Verified && v.Kind != diag.Clean {
		return v
	}
	v.Reason = fmt.Sprintf("the host code launches it at least %d times with different shapes or arguments, of "+
		"which the first %d are %s and the others were not examined; specify one of them with flags",
		examined+left, examined, v.Kind)
	v.Kind, v.Scope, v.Details = diag.Unknown, "", nil
	return v
}

// rank orders kinds of verdicts: the one that a user must know first is the largest.
var rank = map[diag.VerdictKind]int{
	diag.Verified: 0, diag.Clean: 1, diag.Unsupported: 2, diag.Unknown: 3, diag.Bug: 4,
}

// worst sums up the verdicts on several launches: the worst kind, with the scopes and reasons of
// the launches that have it, each after the words that name the launch.
func worst(verdicts []diag.Verdict, launches []string) diag.Verdict {
	out := verdicts[0]
	for _, v := range verdicts[1:] {
		if rank[v.Kind] > rank[out.Kind] {
			out = v
		}
	}
	var scopes, details, reasons, other []string
	for i, v := range verdicts {
		if v.Kind != out.Kind {
			other = append(other, fmt.Sprintf("%s is %s", launches[i], v.Kind))
			continue
		}
		if s := launches[i] + ": " + v.Scope; v.Scope != "" && !slices.Contains(scopes, s) {
			scopes = append(scopes, s) // launches in a loop may differ in what the scope leaves out
		}
		for _, d := range v.Details {
			if !slices.Contains(details, d) {
				details = append(details, d)
			}
		}
		if v.Reason != "" {
			reasons = append(reasons, launches[i]+": "+v.Reason)
		}
	}
	all := slices.Clone(scopes)
	scopes = slices.DeleteFunc(scopes, func(s string) bool { // another one says the same and assumes more
		return slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, s+"; assuming ") })
	})
	out.Scope, out.Reason = strings.Join(scopes, "; "), strings.Join(reasons, "; ")
	out.Details = details
	if out.Kind != diag.Bug && len(other) > 0 {
		if text := strings.Join(other, ", "); out.Scope != "" {
			out.Scope += "; " + text
		} else {
			out.Reason += "; " + text
		}
	}
	for _, v := range verdicts {
		out.Suppressed, out.Known = max(out.Suppressed, v.Suppressed), max(out.Known, v.Known)
		for _, a := range v.Apart {
			if !slices.Contains(out.Apart, a) {
				out.Apart = append(out.Apart[:len(out.Apart):len(out.Apart)], a)
			}
		}
	}
	return out
}

// again reports whether another launch had the same finding, at least as severe.
func (l *launches) again(g *diag.Diagnostic) bool {
	if l == nil || !g.Span.IsValid() || g.Severity == diag.Note {
		return false
	}
	key := placesKey(g)
	if was, ok := l.reported[key]; ok && was >= g.Severity {
		return true
	}
	l.reported[key] = g.Severity
	return false
}

// setAside returns how a finding of another launch was set aside, and whether it was.
func (l *launches) setAside(key string) (*diag.Suppression, bool) {
	if l == nil {
		return nil, false
	}
	s, ok := l.aside[key]
	return s, ok
}

// keep records that a finding was set aside.
func (l *launches) keep(key string, s *diag.Suppression) {
	if l != nil {
		l.aside[key] = s
	}
}
