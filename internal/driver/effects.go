package driver

import (
	"cmp"
	"io/fs"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// A kernel may be examined by another process, on another machine or at another time. What the
// examination did is recorded there as data, and repeated here at the turn of the kernel: the report
// cannot tell the two apart.

// Effects are what the examination of one kernel did, in its order.
type Effects struct {
	Events                              []Effect
	Verdicts                            []diag.Verdict
	Bugs, Guessed, InputErrors, Skipped int
	Steps                               []Step // without times
	// AskedKnown says that it depends on which findings a baseline knows; it was told: none.
	AskedKnown bool
}

// Effect is one event of an examination. One of its fields is set.
type Effect struct {
	Finding *diag.Diagnostic // was sent
	Aside   *diag.Diagnostic // is covered by a comment, and was recorded as such
	Checked *Checked         // is what the call of Job.Checked said
}

// Checked lists the codes for which everything that a kernel executes was examined.
type Checked struct {
	None  bool // the call was Checked(nil)
	Codes []diag.Code
}

// record is called with a driver's events; nil: nothing is recorded.
type record func(Effect)

// Record examines a kernel and returns what that did. prepare completes the job before. Findings
// also go to the sink of the driver. The driver must have no Known findings: a call of the
// examination for them is recorded.
func (d *Driver) Record(m *Module, k *ir.Func, prepare, examine func(*Job)) *Effects {
	asked := false
	d.opt.Known = func(*diag.Diagnostic) bool {
		asked = true
		return false
	}
	job := d.Job(m, k)
	prepare(job)
	out := job.Recorded(examine)
	out.AskedKnown = asked
	return out
}

// Recorded examines the job's kernel, and returns what that did. It does not record whether the
// examination asked for Known findings.
func (j *Job) Recorded(examine func(*Job)) *Effects {
	out := new(Effects)
	part := *j
	part.sum, part.log = new(Summary), new(Decisions)
	part.record = func(e Effect) { out.Events = append(out.Events, e) }
	part.sink = func(g diag.Diagnostic) {
		part.record(Effect{Finding: &g})
		j.sink(g)
	}
	examine(&part)
	out.Verdicts = slices.Clone(part.sum.Verdicts)
	out.Bugs, out.Guessed = part.sum.Bugs, part.sum.Guessed
	out.InputErrors, out.Skipped = part.sum.InputErrors, part.sum.Skipped
	j.sum.add(part.sum)
	if j.log != nil {
		j.log.Steps = append(j.log.Steps, part.log.Steps...)
	}
	for _, s := range part.log.Steps {
		s.Time, s.Elsewhere = 0, s.Outcome != ""
		out.Steps = append(out.Steps, s)
	}
	return out
}

// Replay does what the examination of the job's kernel has done elsewhere.
func (j *Job) Replay(e *Effects) {
	j.Turn()
	for _, ev := range e.Events {
		switch {
		case ev.Finding != nil:
			j.d.send(*ev.Finding, j.sink)
		case ev.Aside != nil:
			j.d.ignored.Match(ev.Aside) // the comment is used
		case ev.Checked.None:
			j.Checked(nil)
		default:
			j.Checked(func(c diag.Code) bool { return slices.Contains(ev.Checked.Codes, c) })
		}
	}
	j.sum.add(&Summary{Verdicts: e.Verdicts, Bugs: e.Bugs, Guessed: e.Guessed,
		InputErrors: e.InputErrors, Skipped: e.Skipped})
	if j.log != nil {
		j.log.Steps = append(j.log.Steps, e.Steps...)
	}
}

// checked records a call of Job.Checked.
func (r record) checked(codes func(diag.Code) bool) {
	out := &Checked{None: codes == nil}
	if codes != nil {
		for _, doc := range diag.Docs() {
			if codes(doc.Code) {
				out.Codes = append(out.Codes, doc.Code)
			}
		}
	}
	r(Effect{Checked: out})
}

// Text is the text of a file of the user.
type Text struct {
	Name    string
	Content []byte
}

// Texts returns what the examination of a kernel of this module may read besides its PTX, by name:
// the files to which its line information points, the input itself, and what was read to find its
// launches. ReadComments must have been called.
func (j *Job) Texts() []Text {
	j.Module.once.Do(func() { j.Module.texts = j.d.texts(j.Module) })
	return j.Module.texts
}

func (d *Driver) texts(m *Module) []Text {
	found := map[string][]byte{}
	for name, content := range m.read {
		found[name] = content
	}
	add := func(p source.Pos) {
		if f := d.opt.Files.File(p.File()); f != nil && f.Content != nil {
			found[f.Name] = f.Content
		}
	}
	var last source.FileID
	for _, f := range m.IR.Funcs {
		if f.Src != nil {
			add(f.Src.Pos)
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				for frame := in.Loc; frame != nil; frame = frame.Parent {
					if id := frame.Pos.File(); id != last {
						last = id
						add(frame.Pos)
					}
				}
			}
		}
	}
	if f := d.opt.Files.Lookup(m.Name); f != nil && f.Content != nil {
		found[f.Name] = f.Content
	}
	delete(found, m.PTX().Name)
	var out []Text
	for name, content := range found {
		out = append(out, Text{name, content})
	}
	slices.SortFunc(out, func(a, b Text) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// PTX is the file with the text from which the IR of the module was made. It may lack kernels of
// the lowered text, which could not be read.
func (m *Module) PTX() *source.File { return m.text }

// ReadsFiles reports whether a launch of the job's kernel takes contents from files that no method
// of Module names: those of arguments, and of saved launches.
func (j *Job) ReadsFiles() bool {
	if j.Launch.Saved != nil || j.d.opt.Saved != nil {
		return true
	}
	reads := func(r *launch.Request) bool {
		return r.Saved != nil || slices.ContainsFunc(r.Args, func(a launch.ArgSpec) bool {
			return a.Kind == launch.ArgFile || a.Kind == launch.ArgSaved
		})
	}
	if reads(&j.Launch) {
		return true
	}
	for i := range j.Launch.Config {
		if reads(&j.Launch.Config[i].Request) {
			return true
		}
	}
	if j.Module.Facts != nil {
		for i := range j.Module.Facts.Pragmas {
			if reads(&j.Module.Facts.Pragmas[i].Request) {
				return true
			}
		}
	}
	return false
}

// readFile reads a file that the text of an input names, and keeps what it has read for Texts.
func (d *Driver) readFile(m *Module, name string, limit int64) ([]byte, error) {
	content, err := d.read(name, limit)
	if err == nil {
		if m.read == nil {
			m.read = map[string][]byte{}
		}
		m.read[name] = content
	}
	return content, err
}

// read reads a file.
func (d *Driver) read(name string, limit int64) ([]byte, error) {
	if d.opt.Given != nil {
		content, ok := d.opt.Given[name]
		if !ok {
			return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}
	return source.ReadRegular(name, limit)
}
