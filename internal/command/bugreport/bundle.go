package bugreport

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/launch"
	"heddle/internal/reduce"
)

// Names of the files of a bundle.
const (
	reducedName = "reduced.ptx"
	launchName  = "reduced.launch"
	sourceDir   = "source"
)

// bundle makes the files.
func (s *session) bundle(ctx context.Context, rep *Report, res *reduce.Candidate) {
	add := func(name, about string, data []byte) {
		rep.Files = append(rep.Files, File{name, about, data})
	}
	full := s.opt.KeepNames || s.opt.WithSource
	line := s.opt.Line.anonymous()
	if full {
		line = s.scrub(quoted("heddle", s.opt.Line.Words))
	}
	add("command.txt", "the command line that was run", []byte(line+"\n"))
	add("original.txt", "what it said: exit code, verdicts, codes of findings, functions of a panic",
		[]byte(s.summary()))
	if full {
		add("original-stdout.txt", "its output", []byte(s.scrub(string(s.original.Stdout))))
		add("original-stderr.txt", "its messages", []byte(s.scrub(string(s.original.Stderr))))
	}
	if res != nil {
		s.addReduced(ctx, rep, res, add)
	}
	if s.opt.WithSource {
		s.addSource(add)
	}
	add("version.json", "heddle version --json", s.opt.Version)
	add("tools.txt", "the compilers and solvers that heddle found", []byte(s.scrub(s.opt.Tools)))
	readme := File{"README.txt", "this list", nil}
	rep.Files = append([]File{readme}, rep.Files...)
	rep.Files[0].Data = []byte(s.readme(rep))
}

// quoted is a command line for a shell.
func quoted(program string, words []string) string {
	out := []string{program}
	for _, w := range words {
		out = append(out, launch.Quote(w))
	}
	return strings.Join(out, " ")
}

// addReduced adds the reduced program, its launch, and what heddle prints about it.
func (s *session) addReduced(ctx context.Context, rep *Report, c *reduce.Candidate,
	add func(name, about string, data []byte)) {
	for _, command := range s.commands() {
		words := s.words(command, &c.Launch)
		if c.Launch.Saved != nil {
			words = append(words, "--launch", launchName)
		}
		rep.Reproduce = append(rep.Reproduce, s.scrub(quoted("heddle", append(words, reducedName))))
	}
	add(reducedName, "a smaller program about which heddle says the same", c.Text)
	if c.Launch.Saved != nil {
		var b bytes.Buffer
		if err := c.Launch.Saved.Write(&b); err != nil {
			fmt.Fprintf(s.opt.Log, "heddle: %v\n", err) // not for one that candidates were run with
		}
		rep.Contents = contents(c.Launch.Saved)
		add(launchName, "its launch: the parameters, and what is left of the memory", b.Bytes())
	}
	add("reproduce.txt", "the command that shows it, with the launch as flags",
		[]byte(strings.Join(rep.Reproduce, "\n")+"\n"))
	ctx, cancel := after(ctx)
	defer cancel()
	stdout, stderr, err := s.printed(ctx, c)
	if err != nil { // what the command prints can be had again
		fmt.Fprintf(s.opt.Log, "heddle: the report lacks what heddle prints about %s: %v\n",
			reducedName, err)
		return
	}
	add("reduced-stdout.txt", "the output of that command", []byte(stdout))
	add("reduced-stderr.txt", "its messages", []byte(stderr))
}

// contents counts the bytes of memory in a saved launch that are not zero.
func contents(l *launch.Saved) (n int) {
	for i := range l.Buffers {
		data := l.Buffers[i].Data
		n += len(data) - bytes.Count(data, []byte{0})
	}
	return n
}

// printed runs the commands of the report on the reduced program, and returns what they print, as
// if it was in the working directory.
func (s *session) printed(ctx context.Context, c *reduce.Candidate) (stdout, stderr string,
	err error) {
	dir := s.temp
	file := filepath.Join(dir, reducedName)
	if err := os.WriteFile(file, c.Text, 0o600); err != nil {
		return "", "", err
	}
	for _, command := range s.commands() {
		words := s.words(command, &c.Launch)
		if c.Launch.Saved != nil {
			path, err := s.write(c.Launch.Saved)
			if err != nil {
				return "", "", err
			}
			words = append(words, "--launch", path)
		}
		o := s.opt.Run(ctx, append(words, file), nil)
		within := dir + string(filepath.Separator)
		local := strings.NewReplacer("--- a"+within, "--- a/", "+++ b"+within, "+++ b/", within, "")
		stdout += s.scrub(local.Replace(string(o.Stdout)))
		stderr += s.scrub(local.Replace(string(o.Stderr)))
	}
	return stdout, stderr, nil
}

// maxSource bounds the bytes of one source file.
const maxSource = 16 << 20

// addSource adds the inputs themselves.
func (s *session) addSource(add func(name, about string, data []byte)) {
	for i, name := range s.opt.Line.Inputs {
		at := fmt.Sprintf("%s/%d-%s", sourceDir, i, filepath.Base(name))
		if name == "-" {
			add(sourceDir+"/stdin", "the standard input", s.opt.Stdin)
			continue
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
			fmt.Fprintf(s.opt.Log, "heddle: %s is not a file of at most %d bytes, and is left out\n",
				name, maxSource)
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintf(s.opt.Log, "heddle: %v; it is left out\n", err)
			continue
		}
		add(at, "an input", text)
	}
}

// scrub replaces the paths of the home directory and of the working directory.
func (s *session) scrub(text string) string {
	for _, p := range []struct{ path, to string }{{s.opt.Dir, "."}, {s.opt.Home, "~"}} {
		if len(p.path) > 1 {
			text = strings.ReplaceAll(text, p.path, p.to)
		}
	}
	return text
}

// summary is the outcome of the original command without names.
func (s *session) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "exit code %d\n", s.original.Code)
	for _, f := range s.facts {
		if len(f.Crash) > 0 {
			fmt.Fprintf(&b, "internal error in\n  %s\n", strings.Join(f.Crash, "\n  "))
			if message, ok := goError(s.original.Stderr); ok {
				fmt.Fprintf(&b, "  %s\n", message)
			}
			continue
		}
		what := "the input"
		if f.Kernel != "" {
			what = "a kernel"
			if f.Kernel == s.about.Kernel {
				what = "the kernel of this report"
			}
		}
		if f.Verdict != "" || len(f.Codes) > 0 {
			fmt.Fprintf(&b, "%s: verdict %s, findings %s\n", what, or(f.Verdict, "none"),
				or(strings.Join(f.Codes, ", "), "none"))
		}
	}
	return b.String()
}

// or returns a text, or another one if it is empty.
func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// goError returns the message of a panic if it is one of Go's runtime, which contains no text of
// the input.
func goError(stderr []byte) (string, bool) {
	_, text, _ := bytes.Cut(stderr, []byte("heddle: internal error: "))
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line), bytes.HasPrefix(line, []byte("runtime error: "))
}

// WriteDir writes the files into a new or empty directory.
func WriteDir(dir string, files []File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// WriteArchive writes the files as a gzip-compressed tar archive, below one directory. Equal files
// make equal archives.
func WriteArchive(w io.Writer, dir string, files []File) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: dir + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data)),
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.Data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}
