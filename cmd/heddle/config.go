package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"heddle/internal/config"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// configFlags selects the configuration file and, once read, holds it. Flags always take precedence
// over the file.
type configFlags struct {
	path string
	none bool
	// paths of the file may leave the checkout
	trust bool
	file  *config.File // once it is read; nil: none
}

// define adds the flags to a command.
func (c *configFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&c.path, "config", "", "read the configuration `FILE` (default: the "+
		"nearest "+config.Name+", in this directory or above, within the checkout)")
	fs.BoolVar(&c.none, "no-config", false, "read no configuration")
	fs.BoolVar(&c.trust, "trust", false,
		"let the configuration name data files and system headers outside of the checkout")
}

// find returns the path of the configuration file, or "" if there is none. It searches from the
// working directory up to the root of the checkout.
func (c *configFlags) find() (string, error) {
	switch {
	case c.none && c.path != "":
		return "", errors.New("--config and --no-config cannot be combined")
	case c.none:
		return "", nil
	case c.path != "":
		return c.path, nil
	}
	return config.Find(".")
}

// read reads the configuration file, if there is one. Its text becomes a file of set, so that
// errors in it can be shown with the line. They are sent to sink and make read fail: a run with
// half of a configuration could skip kernels without notice.
func (c *configFlags) read(set *source.Set, sink diag.Printer) error {
	path, err := c.find()
	if err != nil || path == "" {
		return err
	}
	file, errs := config.Read(set, shortest(path), c.trust)
	// Every mistake is reported, not just the first.
	for _, err := range errs {
		var mistake *config.Error
		if !errors.As(err, &mistake) {
			return fmt.Errorf("the configuration: %w", err)
		}
		d := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: mistake.Msg,
			Span: mistake.Span, Input: path}
		if err := sink.Finding(&d); err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%s: invalid configuration; docs/config.md describes the format",
			shortest(path))
	}
	c.file = file
	return nil
}

// apply adds the settings of the file to those of the flags, which win. Search paths of the file
// follow those of the flags, since the first match counts; definitions precede them, since the last
// one counts.
func (c *configFlags) apply(opt *driver.Options) {
	f := c.file
	if f == nil {
		return
	}
	low := &opt.Lower
	low.Includes = append(low.Includes, f.Compile.Includes...)
	low.Systems = append(low.Systems, f.Compile.Systems...)
	low.Defines = append(append([]string(nil), f.Compile.Defines...), low.Defines...)
	for _, o := range []struct {
		flag *string
		said string
	}{{&low.Std, f.Compile.Std}, {&low.Arch, f.Compile.Arch}, {&low.OptLevel, f.Compile.OptLevel},
		{&low.CCCL, f.Compile.CCCL}} {
		if *o.flag == "" {
			*o.flag = o.said
		}
	}
	low.AddressBits = cmp.Or(low.AddressBits, f.Compile.Bits)
	opt.Settings = c.settings
}

// failOn is what the file says of --fail-on; FailUnspecified without a file.
func (c *configFlags) failOn() driver.FailOn {
	if c.file == nil {
		return driver.FailUnspecified
	}
	f, _ := driver.ParseFailOn(c.file.FailOn) // the reader of the file has checked the word
	return f
}

// engines maps the engine that a configuration names to that of the driver. Unspecified has no
// entry and yields the zero value, which lets the dispatcher choose.
var engines = map[config.Engine]driver.Engine{
	config.Run: driver.Emulation, config.Verify: driver.Proof, config.Trace: driver.Trace,
}

// settings implements driver.Options.Settings: the launch, engine, time limit and skip reason of
// one kernel. Sections are in the order of the file, so a later section that matches the kernel
// overrides an earlier one. Launches accumulate, because one kernel may be examined with several.
func (c *configFlags) settings(input string, k *ir.Func) driver.Setting {
	s := driver.Setting{Engine: engines[c.file.Engine], Timeout: c.file.Timeout}
	for _, t := range c.file.For(input, k.Name, k.Demangled) {
		s.Launch = append(s.Launch, launch.Setting{Request: t.Launch, Span: t.Span})
		if t.Engine != config.Unspecified {
			s.Engine = engines[t.Engine]
		}
		if t.Timeout > 0 {
			s.Timeout = t.Timeout
		}
		if t.Skip != "" {
			s.Skip, s.Span = t.Skip, t.Span
		}
	}
	return s
}

// project returns the arguments that replace missing ones: the directory of the configuration file
// with all below it, if the file lists what to include. Without such a list, a missing argument
// remains an error, so that a stray `heddle check` does not compile a whole disk.
func (c *configFlags) project() []string {
	if c.file == nil || len(c.file.Include) == 0 {
		return nil
	}
	return []string{filepath.Dir(c.file.Path) + "/..."}
}

// checks reports whether the configuration includes a file found below a directory. Files that are
// named on the command line are always checked.
func (c *configFlags) checks(name string) bool { return c.file == nil || c.file.Checks(name) }
