package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/command/describe"
	"heddle/internal/config"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/launch"
	"heddle/internal/project"
	"heddle/internal/source"
)

// initCommand is heddle init.
type initCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	in             inputFlags
	opt            driver.Options
	output         string
	force          bool
	saved          []string
}

// newInit defines the command.
func newInit(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &initCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "init [flags] [FILE|DIR...]",
		Short: "write a heddle.toml for a project",
		Long: `init compiles the files, or those below the directories (default: this one), and writes
heddle.toml with a comment for each kernel: where it is, how the host code or a comment launches it,
and what heddle would guess, to be filled in. With --launch, the launches that heddle exec --save
has written become settings. The compiler's flags are kept in the file. docs/config.md describes its
format.`,
		Example: "  heddle init\n  heddle init -I include src\n" +
			"  heddle exec --save launches main.cu; heddle init --launch launches main.cu",
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&c.output, "output", "o", config.Name,
		"write to `FILE`, or to standard output if it is -")
	fs.BoolVar(&c.force, "force", false, "replace an existing file")
	fs.StringArrayVar(&c.saved, "launch", nil, "take launches from `FILE|DIR`, which heddle exec "+
		"--save has written; may be repeated")
	fs.StringVarP(&c.in.database, "database", "p", "",
		"compile with the flags of `DIR`/compile_commands.json")
	lowerFlags(fs, &c.opt.Lower)
	return cmd
}

// run writes the file. An existing one is left alone before anything is compiled.
func (c *initCommand) run(cmd *cobra.Command, args []string) error {
	if _, err := os.Lstat(c.output); err == nil && !c.force && c.output != "-" {
		return inputError{fmt.Errorf("%s exists; --force replaces it, and -o - prints to standard output",
			c.output)}
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	inputs, err := c.in.inputs(args, c.stdin, c.stderr)
	if err != nil {
		return inputError{err}
	}
	opt := describe.Options{Common: c.opt, Dir: filepath.Dir(c.output), Include: includes(args)}
	if opt.Saved, err = loadLaunches(c.saved); err != nil {
		return inputError{err}
	}
	opt.Common.Files = source.NewSet()
	opt.Common.Database = c.in.database
	mistakes := diag.NewText(c.stderr, opt.Common.Files, useColor("auto", c.stderr))
	text, n, sum := describe.Text(cmd.Context(), opt, inputs, func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			_ = mistakes.Finding(&d)
		}
	})
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if c.output == "-" {
		_, err = c.stdout.Write(text)
	} else if err = os.WriteFile(c.output, text, 0o666); err == nil {
		_, err = fmt.Fprintf(c.stdout, "%s describes %s; heddle check checks them\n", c.output,
			counted(n, "kernel"))
	}
	if err != nil {
		return inputError{err}
	}
	if sum.InputErrors > 0 {
		return exitError(exitUsage)
	}
	return nil
}

// includes returns the patterns for what the user named: the kernels of directories, and files.
func includes(args []string) []string {
	var out []string
	for _, arg := range args {
		dir, ok := project.Directory(arg)
		if !ok {
			out = append(out, filepath.ToSlash(filepath.Clean(arg)))
			continue
		}
		prefix := ""
		if dir = filepath.ToSlash(filepath.Clean(dir)); dir != "." {
			prefix = dir + "/"
		}
		out = append(out, prefix+"**/*.cu", prefix+"**/*.cl")
	}
	return out
}

// loadLaunches reads saved launches: files, and all files of directories but the PTX that heddle
// exec --save-ptx has written beside them.
func loadLaunches(paths []string) ([]*launch.Saved, error) {
	var out []*launch.Saved
	for _, path := range paths {
		files := []string{path}
		entries, err := os.ReadDir(path)
		if err == nil {
			files = nil
			for _, e := range entries {
				hidden := strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".ptx")
				if e.Type().IsRegular() && !hidden {
					files = append(files, filepath.Join(path, e.Name()))
				}
			}
		} else if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--launch %s: there is no such file or directory", path)
		}
		for _, f := range files {
			s, err := launch.Load(f)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}
