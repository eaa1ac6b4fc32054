// Package remote has commands executed by the workers of a cluster, and keeps their outputs in a
// shared cache, by Bazel's Remote Execution API, version 2 (github.com/bazelbuild/remote-apis).
//
// An action is a command line, the files that it reads and the one file that it writes. All of it
// is named by content: equal actions have equal digests, whoever asks, so a result is computed once
// for all users of a cache. The client's part is to upload what the server lacks, to ask, to wait,
// and to believe nothing: each blob that it receives must have the digest under which it was asked
// for. What can fail in a cluster fails here in one of three ways. A server that does not answer is
// asked again for a time (Options.Patience), and then for nothing more in this run (ErrGone). An
// action whose worker dies is executed again. An output that is damaged or missing is computed
// again without the cache. Whatever is left is an error of the one action, which the caller then
// computes itself.
//
// In flow an Action, out flow its output or an error. The package knows nothing of kernels.
package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"heddle/internal/remote/rpc"
)

// maxOutput bounds an output, in bytes.
const maxOutput = 256 << 20

// mostAttempts bounds the executions of one action. A command that ends its worker, because it needs
// more memory than the worker has, would otherwise end all workers, one after the other.
const mostAttempts = 5

// Options describe a server.
type Options struct {
	// URL is grpc://HOST:PORT[/INSTANCE], or grpcs:// for TLS.
	URL     string
	Execute bool // workers execute what the cache lacks; false: the caller does
	// Program is the path of the executable that actions run. It is part of each action.
	Program    string
	Properties []Property // of the workers that may execute the actions
	Header     http.Header
	Roots      *x509.CertPool // that may sign the server's certificate; nil: those of the system
	Version    string         // of this program, for the server's log
	// Patience is how long a server that does not answer is asked again; 0: 30 seconds.
	Patience time.Duration
	// Deadline bounds the time of one action, with its time in the queue; 0: 15 minutes.
	Deadline time.Duration
}

// Defaults of Options.
const (
	DefaultPatience = 30 * time.Second
	DefaultDeadline = 15 * time.Minute
)

// openPatience bounds the time for which Open asks again.
const openPatience = 3 * time.Second

// Action is one execution of the program.
type Action struct {
	Args  []string          // after the program
	Files map[string][]byte // the inputs by name, without directories
	// Environment are the variables of the command. It has no others.
	Environment []Property
	Output      string // name of the file that the program writes
	// Valid reports what is wrong with an output that has the right digest; nil: nothing. A cache can
	// hold the output of another action.
	Valid func([]byte) error
}

// Blob is the content of a file: bytes in memory, or those of the file at Path.
type Blob struct {
	Data []byte
	Path string
}

func (b Blob) open() (io.ReadCloser, error) {
	if b.Path == "" {
		return io.NopCloser(bytes.NewReader(b.Data)), nil
	}
	return os.Open(b.Path)
}

func (b Blob) bytes() ([]byte, error) {
	if b.Path == "" {
		return b.Data, nil
	}
	return os.ReadFile(b.Path)
}

// Stats counts actions by where their output came from.
type Stats struct {
	Cached   int64 // from the action cache
	Executed int64 // by a worker
	Here     int64 // by the caller, in order: the cache has no such result and there are no workers
	Failed   int64 // neither: the caller got an error
	Repeated int64 // executions that were asked for again, after a worker or a blob was lost
}

// Service is a connection to a server. It is safe for concurrent use.
type Service struct {
	store   *store
	opt     Options
	name    string // of the server, for messages
	program digest
	update  bool // the cache may be written

	gone  atomic.Pointer[error]
	stats struct{ cached, executed, here, failed, repeated atomic.Int64 }
}

// ErrGone is the error of each action after the server has not answered for Options.Patience, or
// has refused what every action needs.
var ErrGone = errors.New("the remote server is not used any more in this run")

// ParseURL returns the address and the instance name of a server, and whether it uses TLS.
func ParseURL(text string) (address, instance string, secure bool, err error) {
	u, err := url.Parse(text)
	wrong := fmt.Errorf("%q: expected grpc://HOST:PORT[/INSTANCE], or grpcs:// for TLS", text)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", "", false, wrong
	case u.Scheme != "grpc" && u.Scheme != "grpcs":
		return "", "", false, wrong
	}
	secure = u.Scheme == "grpcs"
	address = u.Host
	switch {
	case u.Port() != "":
	case secure:
		address = net.JoinHostPort(u.Hostname(), "443")
	default:
		return "", "", false, wrong
	}
	return address, strings.Trim(u.Path, "/"), secure, nil
}

// Open connects to a server and asks what it can do. It fails if the server does not answer, or
// lacks what the options need.
func Open(ctx context.Context, opt Options) (*Service, error) {
	address, instance, secure, err := ParseURL(opt.URL)
	if err != nil {
		return nil, err
	}
	if opt.Patience == 0 {
		opt.Patience = DefaultPatience
	}
	if opt.Deadline == 0 {
		opt.Deadline = DefaultDeadline
	}
	header := http.Header{}
	maps.Copy(header, opt.Header)
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	header.Set("Build.bazel.remote.execution.v2.requestmetadata-Bin",
		rpc.Binary(metadata(opt.Version, hex.EncodeToString(id[:]))))
	s := &Service{opt: opt, name: address, store: &store{
		conn:     rpc.Dial(address, rpc.Options{TLS: secure, Roots: opt.Roots, Header: header}),
		instance: instance, patience: opt.Patience, batch: batchBytes,
		present: map[digest]bool{}, sending: map[digest]chan struct{}{},
	}}
	if s.program, err = digestOfFile(opt.Program); err != nil {
		return nil, err
	}
	// A server that is away when a run starts is rarely one that restarts just then.
	s.store.patience = min(opt.Patience, openPatience)
	can, err := s.store.capabilities(ctx)
	s.store.patience = opt.Patience
	switch {
	case err != nil:
		s.Close()
		return nil, fmt.Errorf("%s: %w", address, err)
	case !can.cache || !can.sha256:
		err = errors.New("the server has no cache for blobs named by SHA-256")
	case opt.Execute && !can.execute:
		err = errors.New("the server executes nothing, it is a cache; use --remote-cache")
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	s.update = can.update
	if can.maxBatch > 0 {
		s.store.batch = min(s.store.batch, can.maxBatch-4096) // the message is larger than its blobs
	}
	return s, nil
}

// Close ends the connection.
func (s *Service) Close() { s.store.conn.Close() }

// Name is the address of the server.
func (s *Service) Name() string { return s.name }

// Gone returns why the server is no longer used; nil: it is.
func (s *Service) Gone() error {
	if p := s.gone.Load(); p != nil {
		return *p
	}
	return nil
}

// Stats counts the actions so far.
func (s *Service) Stats() Stats {
	n := &s.stats
	return Stats{Cached: n.cached.Load(), Executed: n.executed.Load(), Here: n.here.Load(),
		Failed: n.failed.Load(), Repeated: n.repeated.Load()}
}

// digestOfFile returns the digest of a file that need not fit in memory.
func digestOfFile(path string) (digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return digest{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return digest{}, err
	}
	return digest{hex.EncodeToString(sum.Sum(nil)), n}, nil
}

// prepared is an action with its blobs.
type prepared struct {
	digest digest
	blobs  map[digest]Blob // all that a worker needs
	own    []digest        // the action and its command, which explain a result in a cache
}

// programName is the name of the program in the directory of an action.
const programName = "heddle"

// prepare builds the messages of an action.
func (s *Service) prepare(a *Action) *prepared {
	p := &prepared{blobs: map[digest]Blob{s.program: {Path: s.opt.Program}}}
	add := func(data []byte) digest {
		d := digestOf(data)
		p.blobs[d] = Blob{Data: data}
		return d
	}
	files := []file{{programName, s.program, true}}
	for name, data := range a.Files {
		files = append(files, file{name, add(data), false})
	}
	cmd := add(command(append([]string{"./" + programName}, a.Args...), a.Environment, a.Output,
		s.opt.Properties))
	p.digest = add(action(cmd, add(directory(files, nil)), s.opt.Properties))
	p.own = []digest{cmd, p.digest}
	return p
}

// Do returns the output of an action: from the cache, else from a worker, or from here if the
// options say that nothing is executed elsewhere. An output of here is written to the cache.
func (s *Service) Do(ctx context.Context, a *Action,
	here func(context.Context) ([]byte, error)) ([]byte, error) {
	if s.Gone() != nil {
		s.stats.failed.Add(1)
		return nil, ErrGone
	}
	limited, cancel := context.WithTimeout(ctx, s.opt.Deadline)
	defer cancel()
	out, err := s.do(limited, ctx, a, here)
	if err != nil {
		s.stats.failed.Add(1)
		if ctx.Err() == nil && final(err) {
			err := fmt.Errorf("%s: %w", s.name, err)
			s.gone.CompareAndSwap(nil, &err)
		}
	}
	return out, err
}

// final reports whether an error is one that all other actions would have, too: the server has not
// answered for the time of retries, or it does not know the user.
func final(err error) bool {
	var unfit *UnfitError
	switch rpc.CodeOf(err) {
	case rpc.Unavailable, rpc.Unauthenticated, rpc.PermissionDenied, rpc.Unimplemented:
		return true
	}
	return errors.As(err, &unfit)
}

// do is Do without its accounts. Calls end with limited, and what is computed here with ctx.
func (s *Service) do(limited, ctx context.Context, a *Action,
	here func(context.Context) ([]byte, error)) ([]byte, error) {
	p := s.prepare(a)
	found, err := s.store.lookup(limited, p.digest, a.Output)
	if err != nil {
		return nil, err
	}
	damaged := false
	if found != nil && found.exit == 0 {
		out, err := s.output(limited, a, found)
		if err == nil {
			s.stats.cached.Add(1)
			return out, nil
		}
		if !unusable(err) {
			return nil, err
		}
		damaged = true
		s.stats.repeated.Add(1)
	}
	if s.opt.Execute {
		return s.execute(limited, a, p, damaged)
	}
	out, err := here(ctx)
	if err != nil {
		return nil, err
	}
	s.stats.here.Add(1)
	if s.update {
		s.publish(limited, a, p, out)
	}
	return out, nil
}

// publish writes an output to the cache. A failure costs others a hit and the caller nothing, so
// only one that all later actions would have is remembered.
func (s *Service) publish(ctx context.Context, a *Action, p *prepared, out []byte) {
	d := digestOf(out)
	blobs := map[digest]Blob{d: {Data: out}}
	for _, own := range p.own {
		blobs[own] = p.blobs[own]
	}
	err := s.store.upload(ctx, blobs)
	if err == nil {
		err = s.store.keep(ctx, p.digest, &outcome{files: []outputFile{{path: a.Output, digest: d}}})
	}
	if err != nil && ctx.Err() == nil && final(err) {
		err := fmt.Errorf("%s: %w", s.name, err)
		s.gone.CompareAndSwap(nil, &err)
	}
}

// errInvalid says that an output with the right digest is not one of the action.
var errInvalid = errors.New("the cached output is not one of this action")

// unusable reports whether an error says that a result must be computed again.
func unusable(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, errMissing) || errors.Is(err, errInvalid)
}

// output returns the verified output of a result.
func (s *Service) output(ctx context.Context, a *Action, o *outcome) ([]byte, error) {
	f, ok := o.output(a.Output)
	if !ok {
		return nil, errMissing
	}
	out, err := s.store.contents(ctx, f)
	if err != nil {
		return nil, err
	}
	if err := a.Valid(out); err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	return out, nil
}
