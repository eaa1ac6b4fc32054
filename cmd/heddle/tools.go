package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/diag"
	"heddle/internal/lower"
)

func newPTX(stdout, stderr io.Writer) *cobra.Command {
	var opt lower.Options
	var output string
	cmd := &cobra.Command{
		Use:   "ptx [flags] FILE",
		Short: "print the PTX that heddle analyses",
		Long:  "ptx compiles a file for analysis, as check does, and prints the PTX.",
		Args:  exactly(1, "one input file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			res, err := lower.File(cmd.Context(), files[0], opt)
			var ce *lower.CompileError
			if errors.As(err, &ce) {
				fmt.Fprintln(stderr, strings.TrimRight(ce.Output, "\n"))
			}
			if err != nil {
				return inputError{err}
			}
			for _, w := range res.Warnings {
				fmt.Fprintf(stderr, "heddle: warning: %s\n", w)
			}
			if output != "" {
				err = os.WriteFile(output, res.PTX, 0o666)
			} else {
				_, err = stdout.Write(res.PTX)
			}
			if err != nil {
				return inputError{err}
			}
			return nil
		},
	}
	cmd.Flags().SortFlags = false
	lowerFlags(cmd.Flags(), &opt)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

func newExplain(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "explain a kind of finding, or list them all",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("want one code, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return diag.List(stdout)
			}
			code := diag.Code(strings.ToLower(args[0]))
			doc, ok := diag.Lookup(code)
			if ok {
				return diag.Explain(stdout, doc)
			}
			hint := "heddle explain lists all"
			if similar := diag.Similar(args[0]); len(similar) > 0 {
				hint = "similar are " + strings.Join(similar, ", ")
			}
			return inputError{fmt.Errorf("there is no code %q; %s", args[0], hint)}
		},
	}
}

func newVersion(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(stdout, versionText())
			return err
		},
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("want %s, not %d", what, len(args))
		}
		return nil
	}
}

// versionText names the build: module version or revision, Go and platform.
func versionText() string {
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision += " " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				revision += " (modified)"
			}
		}
	}
	return fmt.Sprintf("heddle %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
