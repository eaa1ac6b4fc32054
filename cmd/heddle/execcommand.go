package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"heddle/internal/command/exec"
)

// spelled returns a command line with the forms of flags and the -- that pflag needs.
func spelled(args []string) []string {
	if len(args) > 0 && args[0] == "exec" {
		return append(args[:1:1], beforeCommand(flagsOf("exec"), args[1:])...)
	}
	return longForms(args)
}

// beforeCommand is longForms for the arguments of heddle exec, with -- before a command that begins
// without it, as for valgrind and compute-sanitizer: heddle exec [flags] ./app -n 4. That is the case
// if the first argument that is no flag is a program. fs has the flags of heddle exec.
func beforeCommand(fs *pflag.FlagSet, args []string) []string {
	long := longForms(args) // as many
	for i := 0; i < len(long); i++ {
		a := long[i]
		switch {
		case a == "--":
			return long
		case len(a) > 1 && a[0] == '-':
			value, known := takesValue(fs, a)
			if !known {
				return long
			}
			if value {
				i++
			}
		default:
			command, ok := exec.CommandName(a)
			if !ok {
				return long
			}
			return slices.Concat(long[:i], []string{"--", command}, args[i+1:])
		}
	}
	return long
}

// takesValue reports whether the next argument is the value of a flag. known is false for a flag
// that does not exist.
func takesValue(fs *pflag.FlagSet, arg string) (value, known bool) {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, given := strings.Cut(name, "=")
		f := fs.Lookup(name)
		return f != nil && !given && f.NoOptDefVal == "", f != nil
	}
	letters := arg[1:]
	for i := range len(letters) {
		f := fs.ShorthandLookup(letters[i : i+1])
		if f == nil {
			return false, false
		}
		if f.NoOptDefVal == "" {
			return i == len(letters)-1, true // else the rest is the value
		}
	}
	return false, true
}
