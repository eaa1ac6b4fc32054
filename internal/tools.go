//go:build deps

// Package internal pins the modules that packages still being written will import.
package internal

import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/ianlancetaylor/demangle"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
