// Command heddle finds synchronization bugs in CUDA kernels: data races, barrier divergence and deadlock.
package main

import (
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int { return 2 }
