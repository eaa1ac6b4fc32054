package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/internal/check"
	"heddle/internal/check/task"
	"heddle/internal/remote"
)

// remoteFlags are the flags for examining kernels on the workers of a cluster. Nothing of it is
// touched unless one of them is given.
type remoteFlags struct {
	server, cache string
	headers       []string
	properties    []string
	program       string
	jobs          int
}

// defaultRemoteJobs is the default of --remote-jobs. A worker needs tens of milliseconds for most
// kernels, so this many keep more workers busy than the client can feed.
const defaultRemoteJobs = 256

// define adds the flags to a command.
func (r *remoteFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&r.server, "remote", "", "examine kernels on the workers of a cluster with Bazel's "+
		"Remote Execution API at `URL`, grpc://HOST:PORT[/INSTANCE] or grpcs:// for TLS; results are "+
		"kept in its cache; see docs/scale.md")
	fs.StringVar(&r.cache, "remote-cache", "", "as --remote, with the cache of `URL` alone: kernels "+
		"that it lacks are examined here, and their results are kept there")
	fs.StringArrayVar(&r.headers, "remote-header", nil, "send the header `NAME=VALUE` with each call of "+
		"the server, such as authorization=@FILE for the contents of a file; may be repeated")
	fs.StringArrayVar(&r.properties, "remote-property", nil, "ask for workers with the platform property "+
		"`NAME=VALUE`, such as OSFamily=linux; may be repeated")
	fs.StringVar(&r.program, "remote-heddle", "", "have workers run the heddle in `FILE`, for workers "+
		"with another system than this one (default: this program)")
	fs.IntVar(&r.jobs, "remote-jobs", defaultRemoteJobs, "ask for at most `N` kernels at a time")
}

// checkValues rejects values that cannot be used. It contacts no server.
func (r *remoteFlags) checkValues() error {
	switch {
	case r.server != "" && r.cache != "":
		return errors.New("--remote and --remote-cache cannot be combined: --remote uses the cache of its " +
			"server")
	case r.jobs < 1 || r.jobs > mostRemoteJobs:
		return fmt.Errorf("--remote-jobs %d: must be from 1 to %d", r.jobs, mostRemoteJobs)
	}
	for flag, url := range map[string]string{"--remote": r.server, "--remote-cache": r.cache} {
		if url == "" {
			continue
		}
		if _, _, _, err := remote.ParseURL(url); err != nil {
			return fmt.Errorf("%s %w", flag, err)
		}
	}
	return nil
}

// mostRemoteJobs is the largest value of --remote-jobs: each has a stream and a goroutine.
const mostRemoteJobs = 10_000

// pairs reads NAME=VALUE of each text.
func pairs(flag string, texts []string) ([]remote.Property, error) {
	var out []remote.Property
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %q: expected NAME=VALUE", flag, text)
		}
		out = append(out, remote.Property{Name: name, Value: value})
	}
	return out, nil
}

// open connects to the server. It returns nil if no flag names one, or if the server cannot be used:
// a warning says why, and everything is examined here.
func (r *remoteFlags) open(ctx context.Context, warn func(string)) (*cluster, error) {
	url := cmp.Or(r.server, r.cache)
	if url == "" {
		return nil, nil
	}
	opt := remote.Options{URL: url, Execute: r.server != "", Program: r.program, Version: moduleVersion()}
	var err error
	if opt.Properties, err = pairs("--remote-property", r.properties); err != nil {
		return nil, err
	}
	headers, err := pairs("--remote-header", r.headers)
	if err != nil {
		return nil, err
	}
	opt.Header = http.Header{}
	for _, h := range headers {
		if path, ok := strings.CutPrefix(h.Value, "@"); ok {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("--remote-header %s: %w", h.Name, err)
			}
			h.Value = strings.TrimSpace(string(text))
		}
		opt.Header.Add(h.Name, h.Value)
	}
	if opt.Program == "" {
		if opt.Program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	s, err := remote.Open(ctx, opt)
	if err != nil {
		if r.program != "" && errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("--remote-heddle: %w", err)
		}
		warn(fmt.Sprintf("%v; all kernels are examined here", err))
		return nil, nil
	}
	return &cluster{service: s, most: r.jobs, warn: warn}, nil
}

// cluster implements check.Elsewhere by a server of the Remote Execution API.
type cluster struct {
	service *remote.Service
	most    int
	warn    func(string)

	mu     sync.Mutex
	failed int  // kernels that failed for a reason of their own
	gone   bool // it was said that the server is not used any more
}

// Names in the directory of an action.
const (
	requestFile = "request"
	resultFile  = "result"
)

// performName is the command that actions run. It is not in the help: its files are those of one
// version of heddle.
const performName = "perform-action"

// solverPath is where a worker looks for solvers. Actions have no other environment.
const solverPath = "/usr/local/bin:/usr/bin:/bin"

// Do implements check.Elsewhere.
func (c *cluster) Do(ctx context.Context, a *task.Task,
	here func(context.Context) ([]byte, error)) ([]byte, error) {
	r := &remote.Action{
		Args: []string{performName, requestFile, resultFile}, Output: resultFile, Valid: a.Valid,
		Files: map[string][]byte{requestFile: a.Request},
	}
	for hash, text := range a.Texts {
		r.Files[hash] = text
	}
	if a.Solver {
		r.Environment = []remote.Property{{Name: "PATH", Value: solverPath}}
	}
	return c.service.Do(ctx, r, here)
}

// Gone implements check.Elsewhere.
func (c *cluster) Gone() error { return c.service.Gone() }

// Most implements check.Elsewhere.
func (c *cluster) Most() int { return c.most }

// mostFailures bounds the kernels of which a warning says why they are examined here.
const mostFailures = 3

// Failed implements check.Elsewhere.
func (c *cluster) Failed(kernel string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gone := c.service.Gone(); gone != nil {
		if !c.gone {
			c.gone = true
			c.warn(fmt.Sprintf("%v; the other kernels are examined here", gone))
		}
		return
	}
	if c.failed++; c.failed <= mostFailures {
		c.warn(fmt.Sprintf("kernel %s is examined here: %s: %v", kernel, c.service.Name(), err))
	}
}

// close ends the connection, and says on log what the server did, if verbose or if it failed.
func (c *cluster) close(log io.Writer, verbose bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.service.Close()
	if more := c.failed - mostFailures; more > 0 {
		c.warn(fmt.Sprintf("%s for the same or other reasons", counted(more, "more kernel")+
			" examined here"))
	}
	if verbose {
		n := c.service.Stats()
		fmt.Fprintf(log, "heddle: %s: %d results from the cache, %d from workers, %d from here, %d failed, "+
			"%d executions repeated\n", c.service.Name(), n.Cached, n.Executed, n.Here, n.Failed, n.Repeated)
	}
}

// newPerform makes the command that actions run.
func newPerform(stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:    performName + " REQUEST RESULT",
		Short:  "examine one kernel, as a worker of heddle check --remote",
		Args:   exactly(2, "a request and a result"),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := os.ReadFile(args[0])
			if err != nil {
				return inputError{err}
			}
			limitMemory(new(check.Options))
			out, err := check.Perform(cmd.Context(), request, os.ReadFile)
			var unfit *check.UnfitError
			switch {
			case errors.As(err, &unfit):
				fmt.Fprintln(stderr, unfit)
				return exitError(remote.ExitUnfit)
			case err != nil:
				return inputError{err}
			case cmd.Context().Err() != nil:
				return exitError(exitUnknown) // what it has is not the result
			}
			if err := os.WriteFile(args[1], out, 0o666); err != nil {
				return writeError{err}
			}
			return nil
		},
	}
}

// withRemote connects to a cluster for a run. The function that it returns ends the connection.
func (c *checkCommand) withRemote(ctx context.Context) (end func(), err error) {
	warn := func(text string) {
		fmt.Fprintf(c.progress.wrap(c.stderr), "heddle: warning: %s\n", text)
	}
	to, err := c.remote.open(ctx, warn)
	if to == nil || err != nil {
		return func() {}, err
	}
	if why := task.Portable(&task.Options{Options: c.opt.Options, SkipProof: c.opt.SkipProof,
		Run: c.opt.Run, Prove: c.opt.Prove, Trace: c.opt.Trace}); why != nil {
		warn("all kernels are examined here: " + why.Error())
	}
	c.opt.Elsewhere = to
	return func() { to.close(c.progress.wrap(c.stderr), c.in.verbose) }, nil
}
