package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/check"
	"heddle/internal/command/mcp"
	"heddle/internal/config"
	"heddle/internal/diag"
	"heddle/internal/driver"
	dynamic "heddle/internal/engine/run"
	"heddle/internal/launch"
	"heddle/internal/project"
)

// mcpHelp is the long description in --help and docs/commands.md.
const mcpHelp = `mcp speaks the Model Context Protocol on standard input and output. An agent that writes kernels can then check,
verify, trace and repair them, and have findings explained. docs/agents.md describes the tools and the setup of
clients.

Calls read files below the roots only: headers, data files and configurations outside are refused, unless --trust
allows that files below the roots name them. No call runs host code unless --allow-exec is given.`

// newMCP makes the command that agents start. It runs until the agent closes the connection.
func newMCP(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	opt := mcp.Options{Version: moduleVersion(), Project: projectFiles}
	opt.Log = func(text string) { fmt.Fprintf(stderr, "heddle mcp: %s\n", text) }
	opt.Explain = func(w io.Writer, name string) error {
		if name == "" {
			return diag.List(w, 0)
		}
		return explain(w, name)
	}
	var allowExec bool
	cmd := &cobra.Command{
		Use:     "mcp [flags]",
		Short:   "run a server for agents that write kernels",
		Long:    mcpHelp,
		Args:    cobra.NoArgs,
		Example: "  heddle mcp --root ~/project --timeout 2m",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if allowExec {
				opt.Program = runProgramOfCall
			}
			if opt.Jobs < 0 || opt.Jobs > mostJobs {
				return fmt.Errorf("--jobs %d: must be from 0 to %d", opt.Jobs, mostJobs)
			}
			if len(opt.Roots) == 0 {
				opt.Roots = defaultRoots(opt.Log)
			}
			return serveMCP(cmd.Context(), &opt, stdin, stdout)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&opt.Roots, "root", nil,
		"let calls read files below `DIR`; may be repeated (default: the working directory)")
	fs.BoolVar(&allowExec, "allow-exec", false,
		"offer the tool exec, which builds programs and runs them with your rights")
	fs.Var(positive{&opt.Timeout}, "timeout",
		fmt.Sprintf("end a call after `TIME`, such as 5m (default: %v)", mcp.DefaultTimeout))
	fs.IntVarP(&opt.Jobs, "jobs", "j", 0,
		"run `N` calls at a time (default: one for each core, at most 4)")
	fs.BoolVar(&opt.Trust, "trust", false,
		"let files below the roots name headers, data files and directories outside")
	lowerFlags(fs, &opt.Lower)
	return cmd
}

// serveMCP runs a server. The process works in the first root, because results and patches name
// files relative to the working directory.
func serveMCP(ctx context.Context, opt *mcp.Options, stdin io.Reader, stdout io.Writer) error {
	if err := absolute(opt); err != nil {
		return inputError{err}
	}
	server, err := mcp.New(*opt)
	if err == nil && len(opt.Roots) > 0 {
		err = os.Chdir(opt.Roots[0])
	}
	if err != nil {
		return inputError{err}
	}
	var limits check.Options
	limits.Memory = dynamic.DefaultMemory * uint64(server.Calls())
	limitMemory(&limits)
	if err := server.Serve(ctx, stdin, stdout); err != nil {
		return inputError{fmt.Errorf("mcp: %w", err)}
	}
	return nil
}

// absolute makes the paths of flags absolute, before the working directory changes.
func absolute(opt *mcp.Options) error {
	low := &opt.Lower
	paths := []*string{&low.CCCL, &low.CUDAPath}
	if strings.ContainsRune(low.Compiler, filepath.Separator) {
		paths = append(paths, &low.Compiler)
	}
	for _, list := range [][]string{opt.Roots, low.Includes, low.Systems} {
		for i := range list {
			paths = append(paths, &list[i])
		}
	}
	for _, p := range paths {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

// defaultRoots returns the working directory. Clients that start servers in the root of the file
// system do not mean that all of it may be read.
func defaultRoots(log func(string)) []string {
	cwd, err := os.Getwd()
	if err != nil || filepath.Dir(cwd) == cwd {
		log("no --root, and the working directory is none: calls must give kernels as text")
		return nil
	}
	return []string{cwd}
}

// projectFiles implements mcp.Options.Project. The configuration is the one nearest to the path, as
// for the editor: the server was not started in a directory that means anything.
func projectFiles(path string, opt *driver.Options, mayRead func(string) bool,
	report func(diag.Diagnostic)) ([]driver.Input, error) {
	dir, ok := project.Directory(path)
	if !ok {
		dir = filepath.Dir(path)
	}
	var in inputFlags
	file, err := config.Find(dir)
	if err != nil {
		return nil, err
	}
	if in.config.none = file == "" || !mayRead(file); !in.config.none {
		in.config.path = file
	}
	mistakes := diag.FindingFunc(func(d *diag.Diagnostic) { report(*d) })
	if err := in.config.read(opt.Files, mistakes); err != nil {
		return nil, err
	}
	if f := in.config.file; f != nil {
		for _, k := range f.Kernels {
			for _, a := range k.Launch.Args {
				if a.Kind == launch.ArgFile && !mayRead(a.Text) {
					return nil, fmt.Errorf("%s: the data file %s is outside of the roots of this server",
						opt.Files.Format(a.Span.Start), a.Text)
				}
			}
		}
	}
	in.config.apply(opt)
	return in.inputs([]string{path}, nil, io.Discard)
}
