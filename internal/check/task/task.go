// Package task is the examination of one kernel as data: a request that names everything that it
// depends on, and the result, from which the report follows as if the kernel had been examined here.
//
// A request has the PTX of the kernel's module, the texts of the user's files that its line
// information names, the launch as far as flags, configuration and host code specify it, and the
// options of the engines. It refers to texts by their SHA-256, so equal requests are equal bytes,
// and whoever has the texts can perform it: package check, in a worker or in the same process. A
// task has all launches of its kernel, since a proof for one serves the others.
//
// Positions refer to a table of names in place of the files of a run. Both sides read back what they
// have written and compare: what the encoding does not preserve, such as text that is not UTF-8, is
// an error and not a change. Whatever a request does not carry, above all options that lead to other
// output (--html, --printf) and limits in time, is a reason for examining the kernel here (New).
package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/engine/trace"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// format is the version of requests and results. A cache may have those of other versions: the
// program is part of a request's task, but not of the request.
const format = 1

// Options are those of package check, without what is not part of a kernel's examination.
type Options struct {
	driver.Options
	SkipProof bool
	Run       run.Options
	Prove     prove.Options
	Trace     trace.Options
}

// Request is an examination to perform.
type Request struct {
	Format  int
	Input   string // as the user named it
	Several bool   // the input has more than one kernel or module
	Lowered lowered
	Texts   []text   // besides the PTX
	Kernel  string   // mangled
	Names   []string // of the files of positions: number n is Names[n-1]
	Launch  launch.Request
	Engine  driver.Engine
	Options carried
	Solver  string // the solver process that is used, with its version; empty: none
}

// lowered is what a request has of a lower.Result.
type lowered struct {
	Name    string
	Lang    lower.Lang
	Image   int
	Kernels []lower.Kernel
	PTX     string // SHA-256
}

// text is a file of the user.
type text struct{ Name, Hash string }

// carried has the options that a request carries.
type carried struct {
	Warp                                          event.WarpModel
	Benign                                        event.Benign
	Boxes                                         []launch.Box
	FenceOfWriter, IgnoreProxyReads, StrictScopes bool
	MaxSteps, Memory                              uint64
	Limit                                         int
	Lower                                         lower.Options
	Command, Database                             string
	SkipProof                                     bool
	Seed                                          uint64
	Seeds                                         int
	Solver                                        prove.Solver
}

// Task is a request with the texts to which it refers.
type Task struct {
	Request []byte
	Texts   map[string][]byte // by SHA-256
	Solver  bool              // a solver process takes part

	names []string // of the request
}

// Key identifies the task.
func (a *Task) Key() [sha256.Size]byte { return sha256.Sum256(a.Request) }

// hash returns the name of a text.
func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// errOption is the reason for which options that a request does not carry are examined here.
var errOption = errors.New("an option leads to output that only this process can write")

// Portable returns why kernels cannot be examined elsewhere with these options; nil: they can.
func Portable(opt *Options) error {
	_, err := carry(opt)
	return err
}

// carry returns the part of the options that a request carries. It fails if there is more that
// decides a verdict or has an output of its own. Every field is named here, as one that is carried
// or that is none of a kernel's examination: with a new one, it fails until someone decides.
func carry(opt *Options) (carried, error) {
	d, r, p, t := opt.Options, opt.Run, opt.Prove, opt.Trace
	out := carried{
		Warp: d.Warp, Benign: d.Benign, Boxes: d.Boxes, FenceOfWriter: d.FenceOfWriter,
		IgnoreProxyReads: d.IgnoreProxyReads, StrictScopes: d.StrictScopes, MaxSteps: d.MaxSteps,
		Memory: d.Memory, Limit: d.Limit, Lower: d.Lower, Command: d.Command, Database: d.Database,
		SkipProof: opt.SkipProof, Seed: r.Seed, Seeds: r.Seeds, Solver: p.Solver,
	}
	// The cache is that of compilations, and of answers of solvers: it changes how long they take.
	out.Lower.CacheDir, out.Lower.NoCache = "", false
	d.Warp, d.Benign, d.Boxes, d.FenceOfWriter, d.IgnoreProxyReads = 0, 0, nil, false, false
	d.StrictScopes, d.MaxSteps, d.Memory, d.Limit, d.Lower = false, 0, 0, 0, lower.Options{}
	d.Command, d.Database = "", ""
	// The driver's own part: which kernels are examined, in which order and by how many workers, and
	// where their results go.
	d.Kernel, d.Launch, d.Workers, d.Files = "", launch.Request{}, 0, nil
	d.Progress, d.Decisions, d.Verdict, d.Settings, d.Known = nil, nil, nil, nil, nil
	r.Seed, r.Seeds = 0, 0
	p.Solver, p.OfLaunch, p.NoProcess = 0, false, false
	for _, rest := range []any{d, r, p, t} {
		if !reflect.ValueOf(rest).IsZero() {
			return carried{}, errOption
		}
	}
	return out, nil
}

// New returns the task of a job. The error is the reason for examining the kernel here. solver is
// the solver process that proofs use, with its version.
func New(job *driver.Job, opt *Options, solver string) (*Task, error) {
	options, err := carry(opt)
	switch {
	case err != nil:
		return nil, err
	case job.Timeout != 0:
		return nil, errors.New("its proof has a limit in time")
	case job.ReadsFiles():
		return nil, errors.New("its launch takes contents from files")
	}
	m := job.Module
	r := &Request{
		Format: format, Input: m.Name, Several: m.Several, Kernel: job.Kernel.Name,
		Lowered: lowered{Name: m.Lowered.Name, Lang: m.Lowered.Lang, Image: m.Lowered.Image,
			Kernels: m.Lowered.Kernels},
		Launch: job.Launch, Engine: job.Engine, Options: options, Solver: solver,
	}
	a := &Task{Texts: map[string][]byte{}, Solver: solver != ""}
	add := func(b []byte) string {
		h := hash(b)
		a.Texts[h] = b
		return h
	}
	r.Lowered.PTX = add(m.PTX().Content)
	for _, t := range job.Texts() {
		r.Texts = append(r.Texts, text{t.Name, add(t.Content)})
	}
	numbers := newNumbers(job.Files())
	if a.Request, err = encode(r, numbers.of, func(r *Request) { r.Names = numbers.names }); err != nil {
		return nil, err
	}
	a.names = numbers.names
	return a, nil
}

// encode returns the JSON of a value whose positions are renumbered by number. It fails if the JSON
// does not preserve the value. complete is called before the last step.
func encode[T any](v *T, number func(source.Pos) source.Pos, complete func(*T)) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	read := new(T)
	if err := json.Unmarshal(plain, read); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(v, read) {
		return nil, errors.New("it has text that is not UTF-8")
	}
	positions(reflect.ValueOf(read), number) // read shares nothing with v
	complete(read)
	return json.Marshal(read)
}

// ReadRequest reads a request.
func ReadRequest(b []byte) (*Request, error) {
	r := new(Request)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("the request cannot be read: %w", err)
	}
	if r.Format != format {
		return nil, fmt.Errorf("the request has format %d, expected %d", r.Format, format)
	}
	return r, nil
}

// Result is what a request leads to.
type Result struct {
	Format  int
	Request string   // its SHA-256: a cache can confuse results
	Names   []string // of the files of positions
	Effects driver.Effects
}

// Perform performs a request. read returns a text by its SHA-256. examine opens the engines for the
// options and the solver of the request, and passes record the function that examines the kernel.
// The result is the same bytes each time.
func Perform(request []byte, read func(hash string) ([]byte, error),
	examine func(opt *Options, solver string, d *driver.Driver, record func(func(*driver.Job))) error) (
	[]byte, error) {
	r, err := ReadRequest(request)
	if err != nil {
		return nil, err
	}
	given := map[string][]byte{}
	for _, t := range r.Texts {
		if given[t.Name], err = read(t.Hash); err != nil {
			return nil, err
		}
	}
	ptx, err := read(r.Lowered.PTX)
	if err != nil {
		return nil, err
	}
	files := source.NewSet()
	opt := r.options(files, given)
	d := driver.New(opt.Options, func(diagnostic) {})
	d.Open(r.Input)
	m := d.Parse(driver.Input{Input: lower.Input{Name: r.Input}}, &lower.Result{
		Name: r.Lowered.Name, Lang: r.Lowered.Lang, Image: r.Lowered.Image, PTX: ptx,
		Kernels: r.Lowered.Kernels})
	if m == nil {
		return nil, errors.New("the PTX of the request cannot be read")
	}
	m.Several = r.Several
	d.ReadComments(m)
	kernels := m.Kernels()
	at := slices.IndexFunc(kernels, func(k kernel) bool { return k.Name == r.Kernel })
	if at < 0 {
		return nil, fmt.Errorf("the PTX of the request has no kernel %s", r.Kernel)
	}
	places := newPlaces(files, r.Names, m.PTX())
	positions(reflect.ValueOf(r), places.of)
	if places.err != nil {
		return nil, places.err
	}
	var effects *driver.Effects
	err = examine(opt, r.Solver, d, func(examine func(*driver.Job)) {
		effects = d.Record(m, kernels[at], func(job *driver.Job) {
			job.Launch, job.Engine = r.Launch, r.Engine
		}, examine)
	})
	if err != nil {
		return nil, err
	}
	return result(request, effects, files)
}

// Result returns the bytes of the result of the task, whose job had these effects in this process.
// Perform returns the same.
func (a *Task) Result(e *driver.Effects, job *driver.Job) ([]byte, error) {
	return result(a.Request, e, job.Files())
}

// result returns the bytes of a result with positions in some files.
func result(request []byte, e *driver.Effects, files *source.Set) ([]byte, error) {
	numbers := newNumbers(files)
	return encode(&Result{Format: format, Request: hash(request), Effects: *e}, numbers.of,
		func(r *Result) { r.Names = numbers.names })
}

// options returns the options for the performance of a request.
func (r *Request) options(files *source.Set, given map[string][]byte) *Options {
	c := &r.Options
	opt := &Options{SkipProof: c.SkipProof}
	opt.Options = driver.Options{
		Warp: c.Warp, Benign: c.Benign, Boxes: c.Boxes, FenceOfWriter: c.FenceOfWriter,
		IgnoreProxyReads: c.IgnoreProxyReads, StrictScopes: c.StrictScopes, MaxSteps: c.MaxSteps,
		Memory: c.Memory, Limit: c.Limit, Lower: c.Lower, Command: c.Command, Database: c.Database,
		Files: files, Given: given, Launch: r.Launch,
	}
	opt.Lower.NoCache = true
	opt.Run.Seed, opt.Run.Seeds = c.Seed, c.Seeds
	opt.Prove.Solver, opt.Prove.NoProcess = c.Solver, r.Solver == ""
	return opt
}

// Valid reports what is wrong with the bytes of a result; nil: it is one of the task.
func (a *Task) Valid(b []byte) error {
	_, err := a.decode(b)
	return err
}

// decode reads a result.
func (a *Task) decode(b []byte) (*Result, error) {
	r := new(Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	switch {
	case r.Format != format:
		return nil, fmt.Errorf("the result has format %d, expected %d", r.Format, format)
	case r.Request != hash(a.Request):
		return nil, errors.New("it is the result of another request")
	}
	return r, nil
}

// Read returns the effects of a result, with positions in the files of a job.
func (a *Task) Read(b []byte, job *driver.Job) (*driver.Effects, error) {
	r, err := a.decode(b)
	if err != nil {
		return nil, err
	}
	places := newPlaces(job.Files(), r.Names, job.Module.PTX())
	positions(reflect.ValueOf(r), places.of)
	return &r.Effects, places.err
}
