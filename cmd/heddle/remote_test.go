package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"heddle/internal/testing/long"
	"heddle/internal/testing/reapi"
)

// reapiCommand is a command of the scripts: a server of the Remote Execution API, whose URL is in
// $REMOTE.
//
//	reapi start [WORKERS [HEADER=VALUE]]   without workers, it is a cache
//	reapi stop
//	reapi truncate                         cuts all outputs in its store
//	reapi clear                            removes what is in its store
func reapiCommand() func(*testscript.TestScript, bool, []string) {
	type state struct {
		store  *reapi.Store
		server *reapi.Server
	}
	states := map[*testscript.TestScript]*state{}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: reapi start|stop|truncate|clear")
		}
		s := states[ts]
		if s == nil {
			s = &state{store: reapi.NewStore()}
			states[ts] = s
		}
		switch args[0] {
		case "start":
			opt := reapi.Options{}
			if len(args) > 1 {
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				opt.Workers = n
			}
			if len(args) > 2 {
				opt.Header, opt.Value, _ = strings.Cut(args[2], "=")
			}
			server, err := reapi.Start(s.store, opt)
			ts.Check(err)
			s.server = server
			ts.Defer(server.Stop)
			ts.Setenv("REMOTE", server.URL())
		case "stop":
			s.server.Stop()
		case "clear":
			s.store.Clear()
		case "truncate":
			ts.Logf("%d outputs cut", s.store.Truncate(1))
		default:
			ts.Fatalf("unknown command %s", args[0])
		}
	}
}

// variants are kernels with a number N that makes each one another kernel: its name and a constant
// that it stores. What heddle says about them differs: verified, a race, a missing barrier, a block
// whose threads diverge at a barrier, a loop with barriers, atomic operations.
var variants = []string{
	`	st.global.u32 [%o], %v;`,
	`	st.global.u32 [%a], %t;`,
	`	st.shared.u32 [%s], %v;
	xor.b32 %w, %t, 1;
	mad.lo.u32 %w, %w, 4, %b;
	ld.shared.u32 %w, [%w];
	st.global.u32 [%o], %w;`,
	`	st.shared.u32 [%s], %v;
	bar.sync 0;
	xor.b32 %w, %t, 1;
	mad.lo.u32 %w, %w, 4, %b;
	ld.shared.u32 %w, [%w];
	st.global.u32 [%o], %w;`,
	`	setp.lt.u32 %p, %t, 7;
	@%p bra skip;
	bar.sync 0;
skip:
	st.global.u32 [%o], %v;`,
	`	st.shared.u32 [%s], %v;
	mov.u32 %w, 16;
loop:
	bar.sync 0;
	setp.ge.u32 %p, %t, %w;
	@%p bra next;
	mad.lo.u32 %x, %w, 4, %s;
	ld.shared.u32 %x, [%x];
	ld.shared.u32 %y, [%s];
	add.u32 %x, %x, %y;
	st.shared.u32 [%s], %x;
next:
	shr.u32 %w, %w, 1;
	setp.ne.u32 %p, %w, 0;
	@%p bra loop;`,
	`	atom.global.add.u32 %w, [%a], %v;
	st.global.u32 [%o], %w;`,
}

// variantText is the PTX of kernel number n.
func variantText(n int) string {
	body := variants[n%len(variants)]
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
// heddle: grid=2 block=32
.visible .entry k%05d(.param .u64 p)
{
	.reg .pred %%p;
	.reg .b32 %%t, %%c, %%n, %%g, %%v, %%w, %%x, %%y, %%s, %%b;
	.reg .b64 %%a, %%o;
	.shared .align 4 .b8 tile[256];
	ld.param.u64 %%a, [p];
	cvta.to.global.u64 %%a, %%a;
	mov.u32 %%t, %%tid.x;
	mov.u32 %%c, %%ctaid.x;
	mov.u32 %%n, %%ntid.x;
	mad.lo.u32 %%g, %%c, %%n, %%t;
	mul.wide.u32 %%o, %%g, 4;
	add.s64 %%o, %%a, %%o;
	mov.u32 %%v, %d;
	mov.u32 %%b, tile;
	mad.lo.u32 %%s, %%t, 4, %%b;
%s
	ret;
}
`, n, n, body)
}

// writeVariants writes n kernels, each in a file of its own.
func writeVariants(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("k%05d.ptx", i))
		if err := os.WriteFile(name, []byte(variantText(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// heddle runs the command and returns what it printed.
func heddle(args ...string) (stdout, stderr string, code int) {
	var out, log bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &log)
	return out.String(), log.String(), code
}

// TestRemoteMany: the report on many kernels is that of this machine, byte for byte, when workers
// are killed, the server is restarted with operations under way, and the cache is damaged; a
// second run executes nothing, and results that were computed twice are the same bytes. 2,000
// kernels with HEDDLE_LONG=1.
func TestRemoteMany(t *testing.T) {
	n := 70
	if long.All() {
		n = 2000
	}
	dir := t.TempDir()
	writeVariants(t, dir, n)
	began := time.Now()
	local, _, code := heddle("check", "--format", "json", dir)
	if code != exitBugs || strings.Count(local, `"verdict"`) < n {
		t.Fatalf("exit code %d, %d verdicts of %d kernels", code, strings.Count(local, `"verdict"`), n)
	}
	t.Logf("here: %v", time.Since(began))
	store := reapi.NewStore()
	server, err := reapi.Start(store, reapi.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	url := server.URL()
	check := func(what string, args ...string) string {
		t.Helper()
		began := time.Now()
		out, log, code := heddle(append([]string{"check", "--format", "json", "-v"}, append(args, dir)...)...)
		if d := cmp.Diff(local, out); d != "" || code != exitBugs {
			t.Errorf("%s: exit code %d, -here +there\n%s", what, code, d)
		}
		lines := slices.DeleteFunc(strings.Split(log, "\n"), func(l string) bool {
			return !strings.HasPrefix(l, "heddle: ")
		})
		said := strings.Join(lines, "\n")
		t.Logf("%s: %v: %s", what, time.Since(began), said)
		return said
	}

	// Workers are killed three times while the first third of the kernels is examined, and then the
	// server is restarted.
	done := make(chan *reapi.Server)
	go func() {
		for i := 1; i <= 3; i++ {
			for killed := server.Counts.Killed.Load(); store.Results() < i*n/10 ||
				server.Counts.Killed.Load() == killed; time.Sleep(time.Millisecond) {
				if store.Results() >= i*n/10 {
					server.KillWorkers()
				}
			}
		}
		killed := server.Counts.Killed.Load()
		again, err := server.Restart()
		if err != nil || killed == 0 {
			t.Errorf("%d commands were killed; restart: %v", killed, err)
		}
		done <- again
	}()
	said := check("cold, workers killed, server restarted", "--remote", url)
	server = <-done
	defer func() { server.Stop() }()
	if strings.Contains(said, "examined here") || store.Results() != n {
		t.Errorf("%d results of %d kernels; %s", store.Results(), n, said)
	}
	first := store.Outputs()

	executed := server.Counts.Executed.Load()
	said = check("warm", "--remote", url)
	if got := server.Counts.Executed.Load(); got != executed || !strings.Contains(said,
		fmt.Sprintf("%d results from the cache, 0 from workers", n)) {
		t.Errorf("%d executions with a full cache; %s", got-executed, said)
	}
	said = check("warm, the cache alone", "--remote-cache", url)
	if !strings.Contains(said, fmt.Sprintf("%d results from the cache, 0 from workers, 0 from here", n)) {
		t.Error(said)
	}

	lost := store.Lose(2)
	said = check("half of the outputs lost", "--remote", url)
	if want := fmt.Sprintf("%d results from the cache, %d from workers", n-lost, lost); !strings.Contains(said, want) {
		t.Errorf("%s, want %s", said, want)
	}
	if d := cmp.Diff(first, store.Outputs()); d != "" {
		t.Errorf("results that were computed twice differ:\n%s", d)
	}
	store.Truncate(max(n/20, 1))
	said = check("20 outputs cut for good", "--remote", url)
	if !strings.Contains(said, "examined here") {
		t.Errorf("no warning: %s", said)
	}

	// A server that does not come back costs time, and nothing else.
	server.Stop()
	said = check("no server", "--remote", url)
	if !strings.Contains(said, "all kernels are examined here") {
		t.Errorf("no warning: %s", said)
	}
}

// TestBuildbarnExample: the processes of examples/buildbarn get each variable that their
// configuration reads, as containers and as processes, and no others.
func TestBuildbarnExample(t *testing.T) {
	const dir = "../../examples/buildbarn"
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	variable := regexp.MustCompile(`std\.extVar\('(\w+)'\)`)
	needs := func(config string) []string {
		text := read(config)
		if strings.Contains(text, "common.blobstore") {
			text += read("common.libsonnet")
		}
		var out []string
		for _, m := range variable.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	var compose struct {
		Services map[string]struct {
			Image       string
			Command     any
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(read("compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	script, n := read("run.sh"), 0
	for name, s := range compose.Services {
		words, ok := s.Command.([]any)
		if !ok {
			continue // makes the directories
		}
		n++
		config := strings.TrimPrefix(fmt.Sprint(words[0]), "/config/")
		want := needs(config)
		for _, v := range want {
			if _, ok := s.Environment[v]; !ok {
				t.Errorf("compose.yaml: %s reads %s, which its environment lacks", name, v)
			}
			if !strings.Contains(script, v+"=") {
				t.Errorf("run.sh does not set %s, which %s reads", v, config)
			}
		}
		for v := range s.Environment {
			if !slices.Contains(want, v) && v != "STORAGE" {
				t.Errorf("compose.yaml: %s has %s, which %s does not read", name, v, config)
			}
		}
		if !strings.Contains(s.Image, ":20") {
			t.Errorf("compose.yaml: the image of %s has no fixed version", name)
		}
	}
	if n != 6 {
		t.Errorf("%d processes of Buildbarn, want 6", n)
	}
}
