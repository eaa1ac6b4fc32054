package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"heddle/internal/testing/long"
)

// Two kernels in PTX, which need no compiler: one with a race, one without.
const (
	racyPTX = `.version 7.0
.target sm_70
.address_size 64
// heddle: block=64
.visible .entry racy()
{
	.reg .b32 %r<5>; .shared .align 4 .b8 s[4];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, s;
	st.shared.u32 [%r2], %r1;
	ret;
}
`
	cleanPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry ok()
{
	ret;
}
`
)

// release is a server of files, such as those of releases.
type release map[string][]byte

// serve starts a server on the loopback interface; its URL has no slash at the end.
func (r release) serve(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, ok := r[req.URL.Path]
		if !ok {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newRelease returns the files of a release with a program, in a directory of a server, as
// .goreleaser.yaml describes them. The other archives of SHA256SUMS are not there.
func newRelease(t *testing.T, dir string, program []byte) release {
	t.Helper()
	name := fmt.Sprintf("heddle_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression) // loopback is fast
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, f := range []struct {
		name string
		mode int64
		text []byte
	}{{"LICENSE", 0o644, []byte("text")}, {"heddle", 0o755, program}} {
		err := w.WriteHeader(&tar.Header{Name: name + "/" + f.name, Mode: f.mode,
			Size: int64(len(f.text))})
		if err == nil {
			_, err = w.Write(f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sums := fmt.Sprintf("%064x  heddle_1.2.3_plan9_mips.tar.gz\n%x  %s.cdx.json\n%x  %s.tar.gz\n", 1,
		sha256.Sum256(nil), name, sha256.Sum256(b.Bytes()), name)
	return release{dir + "/SHA256SUMS": []byte(sums), dir + "/" + name + ".tar.gz": b.Bytes()}
}

// The archives of a release have the names and the form that the action expects and newRelease
// makes.
func TestReleaseNames(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Project  string `yaml:"project_name"`
		Archives []struct {
			Formats []string
			Name    string `yaml:"name_template"`
			Wrap    bool   `yaml:"wrap_in_directory"`
		}
		Checksum struct {
			Name      string `yaml:"name_template"`
			Algorithm string
		}
	}
	if err := yaml.Unmarshal(text, &r); err != nil || len(r.Archives) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	a := r.Archives[0]
	if a.Name != "{{ .ProjectName }}_{{ .Version }}_{{ .Os }}_{{ .Arch }}" || r.Project != "heddle" ||
		!a.Wrap || len(a.Formats) != 1 || a.Formats[0] != "tar.gz" || r.Checksum.Name != "SHA256SUMS" ||
		r.Checksum.Algorithm != "sha256" {
		t.Errorf("%+v", r)
	}
}

// archive returns the path of the archive of a release.
func (r release) archive() string {
	for path := range r {
		if strings.HasSuffix(path, ".tar.gz") {
			return path
		}
	}
	return ""
}

// checkRun holds a run to what failed and where heddle is from, and the log to some of its words.
func checkRun(t *testing.T, got *actionRun, failed, from string, words ...string) {
	t.Helper()
	if got.failed != failed || got.outputs["from"] != from {
		t.Errorf("the step %q failed and heddle is from %q, want %q and %q\n%v", got.failed,
			got.outputs["from"], failed, from, got)
	}
	for _, w := range words {
		if !strings.Contains(got.log, w) {
			t.Errorf("the log lacks %q:\n%s", w, got.log)
		}
	}
	if _, built := got.uses["actions/setup-go"]; built != (from == "source") {
		t.Errorf("Go was installed: %v; heddle is from %q", built, from)
	}
}

// releasePath is where the server of GitHub has the release of a tag.
const releasePath = "/OWNER/heddle/releases/download/v1.2.3"

// TestAction executes every step of action.yml that is a script, with heddle as it is built by the
// action itself and as a server has it in a release.
func TestAction(t *testing.T) {
	needShell(t)
	if testing.Short() {
		t.Skip("builds heddle")
	}

	// There is no release of the tag: the action builds heddle. The other runs take that program.
	r := newRunner(t, "OWNER/heddle", "v1.2.3", release{}.serve(t))
	r.write("racy.ptx", racyPTX)
	r.write("ok.ptx", cleanPTX)
	got := r.run()
	checkRun(t, got, "Check kernels", "source", releasePath, "::error file=racy.ptx,line=10,",
		"building it from source, because there is no SHA256SUMS at")
	if got.outputs["exit-code"] != "1" ||
		!strings.Contains(got.summary, "### heddle: 1 bug, 1 verified") ||
		!strings.Contains(got.summary, "| error | <code>race-shared</code> |") {
		t.Errorf("%v", got)
	}
	program := filepath.Join(r.temp, "heddle")
	built, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("release", func(t *testing.T) { testActionRelease(t, newRelease(t, releasePath, built)) })
	// For further runs, a script that starts the program spares to unpack it each time.
	small := newRelease(t, releasePath, []byte("#!/bin/sh\nexec '"+program+"' \"$@\"\n"))
	t.Run("sarif", func(t *testing.T) { testActionSARIF(t, small) })
}

// With a release nothing is built, whether it is that of the tag or one that an input names. The
// cache is that of heddle.
func testActionRelease(t *testing.T, files release) {
	server := files.serve(t)
	r := newRunner(t, "OWNER/heddle", "v1.2.3", server)
	r.write("src/ok.ptx", cleanPTX)
	r.write("src/k.cu", "__global__ void k(int *p) { p[threadIdx.x] = 1; }\n")
	got := r.run("args", "./src --grid 1 --block 32")
	checkRun(t, got, "", "release", "heddle: heddle_1.2.3_", "whose checksum is right")
	if got.outputs["exit-code"] != "0" ||
		!strings.HasPrefix(got.summary, "### heddle: 2 verified\n") {
		t.Errorf("%v", got)
	}
	cache := filepath.Join(r.temp, "cache", "heddle")
	if with := got.uses["actions/cache"]; !strings.Contains(with, "path="+cache+"\n") &&
		!strings.HasSuffix(with, "path="+cache) {
		t.Errorf("actions/cache with %q, want %s", with, cache)
	}
	if files, err := os.ReadDir(cache); len(files) == 0 {
		t.Errorf("heddle has not used %s: %v", cache, err)
	}

	r = newRunner(t, "", "", "http://unused.invalid")
	r.write("ok.ptx", cleanPTX)
	got = r.run("download", server+releasePath+"/", "cache", "false")
	checkRun(t, got, "", "release", "v1.2.3, whose checksum is right")
	if _, cached := got.uses["actions/cache"]; cached {
		t.Error("there is a cache without being asked")
	}
}

// fake is a program that takes the place of heddle where it does not matter what heddle does.
const fake = "#!/bin/sh\necho \"heddle $*\"\nexit 3\n"

// A wrong checksum fails the job, and nothing of the archive is unpacked. What is not there is
// built, unless an input names it. A stub takes the place of the go command.
func TestActionWrong(t *testing.T) {
	needShell(t)
	files := newRelease(t, releasePath, []byte(fake))
	whole := files.serve(t)
	wrong := release{files.archive(): append([]byte("x"), files[files.archive()]...),
		releasePath + "/SHA256SUMS": files[releasePath+"/SHA256SUMS"]}
	r := newRunner(t, "OWNER/heddle", "v1.2.3", wrong.serve(t))
	got := r.run()
	checkRun(t, got, "Download heddle", "", "::error title=heddle::", "has the checksum",
		"its SHA256SUMS says", "it was not unpacked")
	if _, err := os.Stat(filepath.Join(r.temp, "heddle")); err == nil ||
		got.outputs["exit-code"] != "" {
		t.Errorf("heddle was unpacked or has run: %v", got)
	}

	named := release{}.serve(t) + "/v9"
	got = newRunner(t, "OWNER/heddle", "v1.2.3", "").run("download", named)
	checkRun(t, got, "Download heddle", "", "::error title=heddle::there is no SHA256SUMS at "+named)

	bin := fakeGo(t)
	noArchive := release{releasePath + "/SHA256SUMS": files[releasePath+"/SHA256SUMS"]}
	zeros := strings.Repeat("0", 64)
	other := release{releasePath + "/SHA256SUMS": []byte(zeros +
		"  heddle_1.2.3_plan9_mips.tar.gz\n" + zeros + "  ../heddle_1_linux_amd64.tar.gz\n")}
	for _, c := range []struct{ repository, ref, server, why string }{
		{"", "", "", "the action runs from a checkout"},
		{"OWNER/heddle", "main", whole, "there is no SHA256SUMS at"},
		{"OWNER/heddle", "v1.2.3", noArchive.serve(t), "there is no heddle_1.2.3_"},
		{"OWNER/heddle", "v1.2.3", other.serve(t), "names no archive for"},
	} {
		r := newRunner(t, c.repository, c.ref, c.server)
		r.env[0] = "PATH=" + bin + ":" + strings.TrimPrefix(r.env[0], "PATH=")
		checkRun(t, r.run(), "", "source", "building it from source, because", c.why)
	}
}

// fakeGo returns a directory with a go command that builds nothing.
func fakeGo(t *testing.T) string {
	dir := t.TempDir()
	script(t, filepath.Join(dir, "go"),
		`test "$1 $2 $4 $6" = "build -C -o ./cmd/heddle" && printf '#!/bin/sh\nexit 3\n' > "$5" && `+
			`chmod +x "$5"`)
	return dir
}

// A server with an error of its own, after some tries, is no reason to fail.
func TestActionServerError(t *testing.T) {
	if !long.All() {
		t.Skip("curl tries again for seconds; HEDDLE_LONG=1")
	}
	needShell(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	for _, url := range []string{server.URL, "http://127.0.0.1:1"} {
		r := newRunner(t, "OWNER/heddle", "v1.2.3", url)
		r.env[0] = "PATH=" + fakeGo(t) + ":" + strings.TrimPrefix(r.env[0], "PATH=")
		checkRun(t, r.run(), "", "source", "SHA256SUMS cannot be downloaded (HTTP status ")
	}
}

// SARIF is uploaded only if that is asked for, and then also after findings.
func testActionSARIF(t *testing.T, files release) {
	server := files.serve(t)
	const upload = "github/codeql-action/upload-sarif"
	for _, c := range []struct {
		inputs       []string
		file, failed string
		uploaded     bool
	}{
		{nil, "", "Check kernels", false},
		{[]string{"sarif", "a.sarif"}, "a.sarif", "Check kernels", false},
		{[]string{"sarif", "a.sarif", "upload-sarif", "true"}, "a.sarif", "Check kernels", true},
		{[]string{"upload-sarif", "true", "args", "ok.ptx"}, "$TEMP/heddle.sarif", "", true},
		{[]string{"upload-sarif", "true", "args", "--no-such-flag"}, "", "Check kernels", false},
	} {
		r := newRunner(t, "OWNER/heddle", "v1.2.3", server)
		r.write("racy.ptx", racyPTX)
		r.write("ok.ptx", cleanPTX)
		got := r.run(c.inputs...)
		checkRun(t, got, c.failed, "release")
		file := strings.ReplaceAll(c.file, "$TEMP", r.temp)
		with, uploaded := got.uses[upload]
		if uploaded != c.uploaded || uploaded && !strings.Contains(with+"\n", "sarif_file="+file+"\n") {
			t.Errorf("%q: uploaded %v: %q", c.inputs, uploaded, with)
		}
		if file != "" && !filepath.IsAbs(file) {
			file = filepath.Join(r.workspace, file)
		}
		if file != "" {
			want := "race-shared"
			if c.failed == "" {
				want = ""
			}
			if rules := rulesIn(t, file); rules != want {
				t.Errorf("%q: results of %q, want %q", c.inputs, rules, want)
			}
		}
	}
}

// No input becomes shell code or a command of the log, and unknown kernels fail the job only if
// that is asked for.
func TestActionHostile(t *testing.T) {
	needShell(t)
	server := newRelease(t, releasePath, []byte(fake)).serve(t)
	for _, text := range []string{"$(touch pwned)`touch pwned`", `"; touch pwned; '; touch pwned; "`,
		"a\ntouch pwned\n::error::pwned", "${{ github.sha }}"} {
		r := newRunner(t, "OWNER/heddle", "v1.2.3", server)
		for _, inputs := range [][]string{{"download", text},
			{"args", text, "sarif", text, "unknown", text, "upload-sarif", text, "cache", text}} {
			got := r.run(inputs...)
			if _, err := os.Stat(filepath.Join(r.workspace, "pwned")); err == nil ||
				strings.Contains(got.log, "\n::error::pwned") || strings.Contains(got.log, "0123abc") {
				t.Errorf("%q was executed: %v", text, got)
			}
		}
	}
	for unknown, want := range map[string]string{"warn": "", "fail": "Check kernels", "": ""} {
		got := newRunner(t, "OWNER/heddle", "v1.2.3", server).run("args", "a.ptx", "unknown", unknown)
		checkRun(t, got, want, "release", "heddle check --summary ", " --format github a.ptx\n")
		if got.outputs["exit-code"] != "3" {
			t.Errorf("%v", got)
		}
	}
}

// needShell skips a test of scripts on machines that lack what the action's runners have.
func needShell(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "tar", "jq", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	if platforms[runtime.GOOS] == "" || platforms[runtime.GOARCH] == "" {
		t.Skip("no release for this machine")
	}
	clang := exec.Command("sh", "../../scripts/install-clang.sh")
	clang.Env = append(os.Environ(), "PATH="+noInstaller(t)+":"+os.Getenv("PATH"))
	if err := clang.Run(); err != nil {
		t.Skip("no clang")
	}
}

// Scripts of the action have no expressions: GitHub would paste the text of inputs into them.
func TestActionExpressions(t *testing.T) {
	for _, s := range readAction(t).Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: an expression in %q", s.Name, s.Run)
		}
	}
}
