package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"heddle/internal/remote/rpc"
	"heddle/internal/testing/reapi"
)

// The tests run this program as the one of the actions: upper writes its input in capital letters.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "upper" {
		os.Exit(upper(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// upper is the command of the actions: upper IN OUT [SECONDS|fail|unfit].
func upper(args []string) int {
	text, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(args) > 2 {
		switch args[2] {
		case "fail":
			fmt.Fprintln(os.Stderr, "this command fails")
			return 3
		case "unfit":
			fmt.Fprintln(os.Stderr, "there is no z3")
			return ExitUnfit
		default:
			d, _ := time.ParseDuration(args[2])
			time.Sleep(d)
		}
	}
	if err := os.WriteFile(args[1], bytes.ToUpper(text), 0o644); err != nil {
		return 1
	}
	return 0
}

// start starts a server that ends with the test.
func start(t *testing.T, store *reapi.Store, opt reapi.Options) *reapi.Server {
	t.Helper()
	s, err := reapi.Start(store, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

// connect opens a service whose patience is short.
func connect(t *testing.T, s *reapi.Server, opt Options) *Service {
	t.Helper()
	opt.URL = s.URL()
	if opt.Program == "" {
		opt.Program = os.Args[0]
	}
	if opt.Patience == 0 {
		opt.Patience = 20 * time.Second
	}
	c, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// upperOf is the action that writes a text in capital letters.
func upperOf(text string, extra ...string) *Action {
	want := strings.ToUpper(text)
	return &Action{Args: append([]string{"upper", "in", "out"}, extra...),
		Files: map[string][]byte{"in": []byte(text)}, Output: "out",
		Valid: func(b []byte) error {
			if string(b) != want {
				return fmt.Errorf("%q, want %q", b, want)
			}
			return nil
		}}
}

// nowhere fails the test if an action is computed by the caller.
func nowhere(t *testing.T) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		t.Error("the action is computed here")
		return nil, errors.New("computed here")
	}
}

// all runs n actions, as many at a time, and fails the test unless each has its output.
func all(t *testing.T, c *Service, n int, extra ...string) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			text := fmt.Sprintf("text %d", i)
			out, err := c.Do(t.Context(), upperOf(text, extra...), nowhere(t))
			if err != nil || string(out) != strings.ToUpper(text) {
				t.Errorf("action %d: %q, %v", i, out, err)
			}
		})
	}
	wg.Wait()
}

// TestExecute: each action is executed once, whoever asks and however often, and the program is
// uploaded once.
func TestExecute(t *testing.T) {
	store := reapi.NewStore()
	s := start(t, store, reapi.Options{Workers: 3, Instance: "main/ci"})
	all(t, connect(t, s, Options{Execute: true}), 20)
	second := connect(t, s, Options{Execute: true})
	all(t, second, 20)
	if n := s.Counts.Streamed.Load(); n != 1 {
		t.Errorf("the program was uploaded %d times", n)
	}
	if n := s.Counts.Executed.Load(); n != 20 {
		t.Errorf("%d executions of 20 actions", n)
	}
	if got := second.Stats(); got != (Stats{Cached: 20}) {
		t.Errorf("second run: %+v, want 20 from the cache", got)
	}
	// Other properties of the platform are another action.
	third := connect(t, s, Options{Execute: true, Properties: []Property{{"OSFamily", "linux"}}})
	all(t, third, 1)
	if n := s.Counts.Executed.Load(); n != 21 {
		t.Errorf("%d executions, want 21", n)
	}
}

// TestLarge: inputs and outputs of all sizes around the limit of a batch arrive, streamed or not.
func TestLarge(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1, MaxBatch: 1 << 16, NoInline: true})
	c := connect(t, s, Options{Execute: true})
	for _, size := range []int{0, 1, 1<<16 - 4097, 1<<16 - 4096, 1<<16 - 4095, 1 << 16, 3 << 20} {
		text := strings.Repeat("a", size)
		out, err := c.Do(t.Context(), upperOf(text), nowhere(t))
		if err != nil || string(out) != strings.ToUpper(text) {
			t.Errorf("%d bytes: %d bytes, %v", size, len(out), err)
		}
	}
	if n := s.Counts.Streamed.Load(); n != 4 { // the program and three inputs
		t.Errorf("%d blobs were streamed, want 4", n)
	}
}

// TestWorkerKilled: what killed workers had begun is executed by others.
func TestWorkerKilled(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 4})
	c := connect(t, s, Options{Execute: true})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for killed := 0; killed == 0; time.Sleep(5 * time.Millisecond) {
			killed = s.KillWorkers()
		}
	}()
	all(t, c, 12, "200ms")
	<-done
	if s.Counts.Killed.Load() == 0 || c.Stats().Repeated == 0 {
		t.Errorf("%d commands were killed, %+v", s.Counts.Killed.Load(), c.Stats())
	}
}

// TestKillsWorkers: an action that ends every worker fails after a few attempts, and others go on.
func TestKillsWorkers(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				s.KillWorkers()
			}
		}
	})
	_, err := c.Do(t.Context(), upperOf("x", "1m"), nowhere(t))
	close(stop)
	wg.Wait()
	if err == nil || !strings.Contains(err.Error(), "5 attempts failed") ||
		!strings.Contains(err.Error(), "worker disappeared") {
		t.Errorf("error %v, want one that names the attempts and the cause", err)
	}
	if c.Gone() != nil {
		t.Errorf("the server is given up: %v", c.Gone())
	}
	all(t, c, 2)
}

// TestRestart: a server that ends and starts again, with its disk or with an empty one, loses no
// action: those that it has forgotten are asked for again.
func TestRestart(t *testing.T) {
	for _, empty := range []bool{false, true} {
		t.Run(fmt.Sprintf("empty=%v", empty), func(t *testing.T) {
			store := reapi.NewStore()
			s := start(t, store, reapi.Options{Workers: 2})
			c := connect(t, s, Options{Execute: true})
			restarted := make(chan *reapi.Server)
			go func() {
				for s.Running() == 0 {
					time.Sleep(time.Millisecond)
				}
				s.Stop()
				if empty {
					store.Clear()
				}
				time.Sleep(200 * time.Millisecond)
				again, err := reapi.Start(store, reapi.Options{Workers: 2, Address: s.Address()})
				if err != nil {
					t.Error(err)
				}
				restarted <- again
			}()
			all(t, c, 8, "100ms")
			(<-restarted).Stop()
		})
	}
}

// TestRestartLate: what counts is for how long a server has been away, not for how long an action has
// been under way.
func TestRestartLate(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true, Patience: time.Second})
	restarted := make(chan *reapi.Server)
	go func() {
		time.Sleep(2 * time.Second)
		again, err := s.Restart()
		if err != nil {
			t.Error(err)
		}
		restarted <- again
	}()
	all(t, c, 1, "3s")
	(<-restarted).Stop()
}

// TestBrokenStream: an operation whose stream breaks is waited for, and not executed twice.
func TestBrokenStream(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true})
	go func() {
		for s.Running() == 0 {
			time.Sleep(time.Millisecond)
		}
		s.BreakStreams()
	}()
	all(t, c, 1, "300ms")
	if n := s.Counts.Executed.Load(); n != 1 {
		t.Errorf("%d executions, want 1", n)
	}
	if s.Counts.Waits.Load() == 0 {
		t.Error("WaitExecution was not called")
	}
}

// TestPoisoned: outputs that were cut or lost, and results of other actions, are computed again. If
// the store keeps the damaged bytes even then, the action fails: it never has a wrong output.
func TestPoisoned(t *testing.T) {
	for _, inline := range []bool{true, false} {
		store := reapi.NewStore()
		s := start(t, store, reapi.Options{Workers: 2, NoInline: !inline})
		all(t, connect(t, s, Options{Execute: true}), 6)

		if n := store.Lose(2); n != 3 {
			t.Fatalf("%d outputs lost, want 3", n)
		}
		lost := connect(t, s, Options{Execute: true})
		all(t, lost, 6)
		if got := lost.Stats(); got.Executed != 3 || got.Cached != 3 {
			t.Errorf("with lost outputs: %+v, want 3 executed and 3 cached", got)
		}

		if !store.Swap() {
			t.Fatal("there are no two results")
		}
		swapped := connect(t, s, Options{Execute: true})
		all(t, swapped, 6)
		if got := swapped.Stats(); got.Executed != 2 {
			t.Errorf("with swapped results: %+v, want 2 executed", got)
		}

		if n := store.Truncate(1); n != 6 {
			t.Fatalf("%d outputs cut, want 6", n)
		}
		cut := connect(t, s, Options{Execute: true})
		for i := range 6 {
			text := fmt.Sprintf("text %d", i)
			out, err := cut.Do(t.Context(), upperOf(text), nowhere(t))
			if !errors.Is(err, errDamaged) {
				t.Errorf("inline %v: cut output %d: %q, %v; want errDamaged", inline, i, out, err)
			}
		}
		if cut.Gone() != nil {
			t.Errorf("a damaged cache ends the use of the server: %v", cut.Gone())
		}
	}
}

// TestCancel: the end of the context ends the call at once and the command on the worker.
func TestCancel(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for s.Running() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	began := time.Now()
	_, err := c.Do(ctx, upperOf("x", "1m"), nowhere(t))
	if rpc.CodeOf(err) != rpc.Canceled || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v, want CANCELLED at once", err, time.Since(began))
	}
	for deadline := time.Now().Add(10 * time.Second); s.Running() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command goes on after its client is gone")
		}
	}
	if c.Gone() != nil {
		t.Errorf("the server is given up: %v", c.Gone())
	}
}

// TestDeadline: an action that takes too long fails.
func TestDeadline(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true, Deadline: 300 * time.Millisecond})
	_, err := c.Do(t.Context(), upperOf("x", "1m"), nowhere(t))
	if rpc.CodeOf(err) != rpc.DeadlineExceeded || c.Gone() != nil {
		t.Errorf("%v, gone %v; want DEADLINE_EXCEEDED of this action alone", err, c.Gone())
	}
}

// TestGone: a server that does not come back fails each action, the first after the time of
// retries and the others at once.
func TestGone(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true, Patience: 300 * time.Millisecond})
	all(t, c, 1)
	s.Stop()
	began := time.Now()
	if _, err := c.Do(t.Context(), upperOf("x"), nowhere(t)); rpc.CodeOf(err) != rpc.Unavailable {
		t.Errorf("%v, want UNAVAILABLE", err)
	}
	if _, err := c.Do(t.Context(), upperOf("y"), nowhere(t)); !errors.Is(err, ErrGone) {
		t.Errorf("%v, want ErrGone", err)
	}
	if d := time.Since(began); d > 10*time.Second || c.Gone() == nil {
		t.Errorf("after %v, gone %v", d, c.Gone())
	}
}

// TestCommandFails: the exit code of the program is an error of the action, which is not cached,
// and the one for a worker without what all actions need ends the use of the server.
func TestCommandFails(t *testing.T) {
	store := reapi.NewStore()
	s := start(t, store, reapi.Options{Workers: 1})
	c := connect(t, s, Options{Execute: true})
	_, err := c.Do(t.Context(), upperOf("x", "fail"), nowhere(t))
	var failed *CommandError
	if !errors.As(err, &failed) || failed.Exit != 3 || failed.Stderr != "this command fails" || c.Gone() != nil {
		t.Errorf("%v, gone %v", err, c.Gone())
	}
	_, err = c.Do(t.Context(), upperOf("x", "unfit"), nowhere(t))
	var unfit *UnfitError
	if !errors.As(err, &unfit) || c.Gone() == nil || !strings.Contains(c.Gone().Error(), "there is no z3") {
		t.Errorf("%v, gone %v", err, c.Gone())
	}
	if store.Results() != 0 {
		t.Error("a failed command is in the cache")
	}
}

// TestCacheOnly: without workers the caller computes an action, once for all users of the cache, and
// a damaged entry does not matter. A cache that cannot be written serves what it has.
func TestCacheOnly(t *testing.T) {
	store := reapi.NewStore()
	s := start(t, store, reapi.Options{})
	runs := 0
	here := func(context.Context) ([]byte, error) { runs++; return []byte("X"), nil }
	for range 2 {
		out, err := connect(t, s, Options{}).Do(t.Context(), upperOf("x"), here)
		if err != nil || string(out) != "X" {
			t.Errorf("%q, %v", out, err)
		}
	}
	if runs != 1 {
		t.Errorf("computed %d times, want once", runs)
	}
	if store.Truncate(1) != 1 {
		t.Fatal("no output to cut")
	}
	if out, err := connect(t, s, Options{}).Do(t.Context(), upperOf("x"), here); err != nil ||
		string(out) != "X" || runs != 2 {
		t.Errorf("with a cut output: %q, %v, computed %d times", out, err, runs)
	}
	store.Clear()
	fixed := start(t, store, reapi.Options{ReadOnly: true})
	c := connect(t, fixed, Options{})
	if _, err := c.Do(t.Context(), upperOf("x"), here); err != nil || c.Gone() != nil || store.Results() != 0 {
		t.Errorf("read-only cache: %v, gone %v, %d results", err, c.Gone(), store.Results())
	}
	// Results of workers and of callers are the same actions.
	all(t, connect(t, start(t, store, reapi.Options{Workers: 1}), Options{Execute: true}), 3)
	all(t, connect(t, s, Options{}), 3)
}

// TestHeader: a token is sent with each call, and its absence is an error that names it.
func TestHeader(t *testing.T) {
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1, Header: "authorization", Value: "Bearer t"})
	header := http.Header{"Authorization": {"Bearer t"}}
	all(t, connect(t, s, Options{Execute: true, Header: header}), 2)
	_, err := Open(t.Context(), Options{URL: s.URL(), Program: os.Args[0]})
	if rpc.CodeOf(err) != rpc.Unauthenticated {
		t.Errorf("%v, want UNAUTHENTICATED", err)
	}
}

// TestTLS: grpcs:// verifies the certificate of the server.
func TestTLS(t *testing.T) {
	own := httptest.NewUnstartedServer(nil) // for its certificate
	own.StartTLS()
	defer own.Close()
	s := start(t, reapi.NewStore(), reapi.Options{Workers: 1, TLS: credentials.NewTLS(
		&tls.Config{Certificates: own.TLS.Certificates})})
	_, err := Open(t.Context(), Options{URL: s.URL(), Program: os.Args[0], Patience: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v, want one about the unknown certificate", err)
	}
	pool := own.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c, err := Open(t.Context(), Options{URL: s.URL(), Program: os.Args[0], Execute: true,
		Roots: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all(t, c, 2)
}

// TestOpenErrors: what is not a server for this client is refused, with what to do.
func TestOpenErrors(t *testing.T) {
	cache := start(t, reapi.NewStore(), reapi.Options{Instance: "main"})
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for url, want := range map[string]string{
		"localhost:1":                       "expected grpc://HOST:PORT",
		"http://localhost:1":                "expected grpc://HOST:PORT",
		"grpc://localhost":                  "expected grpc://HOST:PORT",
		"grpc://u:p@localhost:1":            "expected grpc://HOST:PORT",
		cache.URL():                         "use --remote-cache",
		"grpc://" + cache.Address() + "/no": `no instance "no"`,
		"grpc://127.0.0.1:1":                "connection refused",
		"grpc://" + strings.TrimPrefix(web.URL, "http://"): "",
	} {
		opt := Options{URL: url, Program: os.Args[0], Execute: true, Patience: time.Millisecond}
		c, err := Open(t.Context(), opt)
		if err == nil {
			c.Close()
			t.Errorf("%s: no error", url)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	missing := Options{URL: cache.URL(), Program: filepath.Join(t.TempDir(), "none")}
	if _, err := Open(t.Context(), missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that the program does not exist", err)
	}
}

// FuzzRead: no answer of a server makes the readers of messages fail but with an error.
func FuzzRead(f *testing.F) {
	f.Add((&outcome{files: []outputFile{{path: "p", digest: digest{"h", 1}}}, exit: 1}).marshal())
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = readOutcome(b)
		_, _ = readOperation(b)
		_, _ = readResponse(b)
		_, _ = readCapabilities(b)
		_ = statuses(b, 2)
	})
}
