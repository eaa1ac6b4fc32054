package mcp

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/launch"
	"heddle/internal/lazyregexp"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// maxText bounds the bytes of a text in a call.
const maxText = 4 << 20

// codeInput names the source of a call: a path, or a text with its language. The descriptions of
// these structs are the schemas of the tools.
type codeInput struct {
	Path string `json:"path,omitempty"`

	Text     string `json:"text,omitempty"`
	Language string `json:"language,omitempty"`
}

// launchInput is what a call may say about the launch of the kernels and their compilation.
type launchInput struct {
	Kernel   string   `json:"kernel,omitempty"`
	Grid     string   `json:"grid,omitempty"`
	Block    string   `json:"block,omitempty"`
	Shared   string   `json:"shared,omitempty"`
	Args     []string `json:"args,omitempty"`
	Defines  []string `json:"defines,omitempty"`
	Includes []string `json:"includes,omitempty"`
	Arch     string   `json:"arch,omitempty"`
	Timeout  int      `json:"timeout,omitempty"`
}

func (l *launchInput) seconds() int { return l.Timeout }

// checkInput, verifyInput, traceInput, fixInput, explainInput and execInput are the arguments of
// the tools.
type checkInput struct {
	codeInput
	launchInput
}

type verifyInput struct {
	codeInput
	launchInput
	Assume []string `json:"assume,omitempty"`
}

type traceInput struct {
	codeInput
	launchInput
}

type fixInput struct {
	codeInput
	launchInput
	Allow []string `json:"allow,omitempty"`
}

type explainInput struct {
	Topic string `json:"topic,omitempty"`
}

func (*explainInput) seconds() int { return 0 }

type execInput struct {
	Path     string   `json:"path"`
	Args     []string `json:"args,omitempty"`
	Defines  []string `json:"defines,omitempty"`
	Includes []string `json:"includes,omitempty"`
	Arch     string   `json:"arch,omitempty"`
	Timeout  int      `json:"timeout,omitempty"`
}

func (e *execInput) seconds() int { return e.Timeout }

// languages maps the names of languages in calls to those of lower.
var languages = map[string]lower.Lang{"cuda": lower.CUDA, "opencl": lower.OpenCL, "ptx": lower.PTX,
	"llvm": lower.LLVM}

// textName is what results call a text, before the extension of its language.
const textName = "text."

// check returns an error unless the call names one source.
func (c *codeInput) check() error {
	switch {
	case c.Path == "" && c.Text == "":
		return errors.New("no source; give path, or text with language")
	case c.Path != "" && (c.Text != "" || c.Language != ""):
		return errors.New("give either path or text with language, not both; the language of a path " +
			"follows from its extension")
	case c.Path != "":
		return nil
	case languages[c.Language] == "":
		return fmt.Errorf("language %q; text needs one of cuda, opencl, ptx, llvm", c.Language)
	case len(c.Text) > maxText:
		return fmt.Errorf("text has %d bytes, more than %d; write it to a file below a root and give "+
			"its path", len(c.Text), maxText)
	case strings.TrimSpace(c.Text) == "":
		return errors.New("text is blank; give the source of a kernel")
	}
	if i := strings.IndexByte(c.Text, 0); i >= 0 {
		return fmt.Errorf("text has a NUL byte in line %d; remove it",
			1+strings.Count(c.Text[:i], "\n"))
	}
	return nil
}

// The forms of values that go to the compiler as they are.
var (
	defineRE = lazyregexp.New(`^[A-Za-z_]\w*(?:\([^)\n]*\))?(?:=[^\n\x00]*)?$`)
	archRE   = lazyregexp.New(`^(?:sm|compute)_\d+[af]?$`)
)

// prepare turns the arguments of a call into the options and the inputs of a run. any receives
// which dimensions are arbitrary; nil: none may be.
func (s *Server) prepare(c *call, code *codeInput, l *launchInput, any *anyDims) (
	opt driver.Options, in []driver.Input, err error) {
	if err := code.check(); err != nil {
		return opt, nil, err
	}
	opt = driver.Options{Kernel: l.Kernel, Limit: mostOfKernel, Files: source.NewSet(),
		Workers: s.workers(), Progress: c.progress.show}
	if err := s.launch(&opt.Launch, l, any); err != nil {
		return opt, nil, err
	}
	if opt.Lower, err = s.compile(l.Defines, l.Includes, l.Arch); err != nil {
		return opt, nil, err
	}
	if !s.opt.Trust {
		opt.MayRead = s.roots.mayRead
	}
	in, err = s.inputs(code, &opt)
	if err != nil || s.opt.Trust {
		return opt, in, err
	}
	for i := range in {
		if !preprocessed(&in[i]) {
			continue
		}
		if err := s.checkIncludes(&in[i], &opt.Lower); err != nil {
			return opt, nil, err
		}
	}
	return opt, in, nil
}

// anyDims says which dimensions of the grid and of a block are arbitrary.
type anyDims struct{ grid, block [3]bool }

// launch reads the launch of a call.
func (s *Server) launch(r *launch.Request, l *launchInput, any *anyDims) error {
	if any == nil {
		any = new(anyDims)
		if strings.Contains(l.Grid+l.Block, "*") {
			return errors.New("grid and block: only verify accepts * for any size; give numbers")
		}
	}
	if l.Grid != "" {
		d, err := launch.ParseDim(arbitrary(l.Grid, &any.grid))
		if err != nil {
			return fmt.Errorf("grid: %w", err)
		}
		r.Grid = &d
	}
	if l.Block != "" {
		d, err := launch.ParseDim(arbitrary(l.Block, &any.block))
		if err != nil {
			return fmt.Errorf("block: %w", err)
		}
		r.Block = &d
	}
	if l.Shared != "" {
		n, err := launch.ParseShared(l.Shared)
		if err != nil {
			return fmt.Errorf("shared: %w", err)
		}
		r.Shared = &n
	}
	for _, text := range l.Args {
		a, err := launch.ParseArg(text)
		if err != nil {
			return fmt.Errorf("args: %w", err)
		}
		if a.Kind == launch.ArgFile && !s.opt.Trust {
			if a.Text, err = s.roots.find(a.Text); err != nil {
				return fmt.Errorf("args: %s: %w", text, err)
			}
		}
		r.Args = append(r.Args, a)
	}
	return nil
}

// arbitrary replaces each * in a size by 1, and records it.
func arbitrary(text string, any *[3]bool) string {
	parts := strings.Split(text, ",")
	for i, p := range parts {
		if strings.TrimSpace(p) == "*" && i < len(any) {
			any[i], parts[i] = true, "1"
		}
	}
	return strings.Join(parts, ",")
}

// compile returns the options of the compiler for a call.
func (s *Server) compile(defines, includes []string, arch string) (lower.Options, error) {
	opt := s.opt.Lower
	for _, d := range defines {
		if !defineRE.MatchString(d) {
			return opt, fmt.Errorf("defines: %q; expected NAME or NAME=VALUE in one line", d)
		}
	}
	opt.Defines = append(opt.Defines[:len(opt.Defines):len(opt.Defines)], defines...)
	opt.Includes = opt.Includes[:len(opt.Includes):len(opt.Includes)]
	for _, dir := range includes {
		at, err := s.roots.find(dir)
		if err != nil {
			return opt, fmt.Errorf("includes: %w", err)
		}
		opt.Includes = append(opt.Includes, at)
	}
	if arch != "" {
		if !archRE.MatchString(arch) {
			return opt, fmt.Errorf("arch: %q; expected a name such as sm_80", arch)
		}
		opt.Arch = arch
	}
	return opt, nil
}

// inputs returns the inputs of a call. Headers for a text are searched in the roots.
func (s *Server) inputs(code *codeInput, opt *driver.Options) ([]driver.Input, error) {
	if code.Path == "" {
		lang := languages[code.Language]
		in := lower.Input{Name: textName + string(lang), Content: []byte(code.Text), Lang: lang}
		in.Flags.Includes = s.roots.dirs
		return []driver.Input{{Input: in}}, nil
	}
	path, err := s.roots.find(code.Path)
	if err != nil {
		return nil, err
	}
	var wrong []string
	mayRead := opt.MayRead
	if mayRead == nil {
		mayRead = func(string) bool { return true }
	}
	in, err := s.opt.Project(path, opt, mayRead, func(d diag.Diagnostic) {
		wrong = append(wrong, opt.Files.Format(d.Span.Start)+": "+d.Message)
	})
	if len(wrong) > 0 {
		return nil, fmt.Errorf("the configuration is invalid:\n%s", strings.Join(wrong, "\n"))
	}
	return in, err
}

// preprocessed reports whether an input may have directives.
func preprocessed(in *driver.Input) bool {
	if in.Lang != "" {
		return in.Lang == lower.CUDA || in.Lang == lower.OpenCL
	}
	switch strings.ToLower(filepath.Ext(in.Name)) {
	case ".ptx", ".ll", ".bc":
		return false
	}
	return true
}

// limit returns the time of a call that asks for some seconds; 0: it asks for none.
func (s *Server) limit(seconds int) time.Duration {
	if seconds == 0 || seconds >= int(s.opt.Timeout/time.Second) {
		return s.opt.Timeout
	}
	return time.Duration(seconds) * time.Second
}
