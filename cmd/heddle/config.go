package main

import (
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

// configFlags say which configuration counts.
type configFlags struct {
	path string
	none bool
	file *config.File // once it is read; nil: none
}

func (c *configFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&c.path, "config", "", "read the configuration `FILE` (default: the nearest "+config.Name+", in this directory or above)")
	fs.BoolVar(&c.none, "no-config", false, "read no configuration")
}

// find returns the path of the configuration; empty if there is none.
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

// read reads the configuration, if there is one, whose text becomes a file of set. Mistakes in it are sent to sink,
// and are an error.
func (c *configFlags) read(set *source.Set, sink diag.Printer) error {
	path, err := c.find()
	if err != nil || path == "" {
		return err
	}
	file, errs := config.Read(set, shortest(path))
	for _, err := range errs {
		var mistake *config.Error
		if !errors.As(err, &mistake) {
			return fmt.Errorf("the configuration: %w", err)
		}
		d := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: mistake.Msg, Span: mistake.Span, Input: path}
		if err := sink.Finding(&d); err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%s: invalid configuration; docs/config.md describes the format", shortest(path))
	}
	c.file = file
	return nil
}

// apply puts what the configuration says behind what the flags say.
func (c *configFlags) apply(opt *driver.Options) {
	f := c.file
	if f == nil {
		return
	}
	low := &opt.Lower
	low.Includes = append(low.Includes, f.Compile.Includes...)
	low.Systems = append(low.Systems, f.Compile.Systems...)
	low.Defines = append(append([]string(nil), f.Compile.Defines...), low.Defines...) // of two the last one counts
	for _, o := range []struct {
		flag *string
		said string
	}{{&low.Std, f.Compile.Std}, {&low.Arch, f.Compile.Arch}, {&low.OptLevel, f.Compile.OptLevel}} {
		if *o.flag == "" {
			*o.flag = o.said
		}
	}
	opt.Settings = c.settings
}

// engines are those of the driver.
var engines = map[config.Engine]driver.Engine{
	config.Run: driver.Emulation, config.Verify: driver.Proof, config.Trace: driver.Trace,
}

// settings is the answer to driver.Options.Settings.
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

// project returns what a command without FILE checks: the directory of the configuration, if it says which files
// count.
func (c *configFlags) project() []string {
	if c.file == nil || len(c.file.Include) == 0 {
		return nil
	}
	return []string{filepath.Dir(c.file.Path) + "/..."}
}

// checks reports whether a file that was found below a directory is to be checked.
func (c *configFlags) checks(name string) bool { return c.file == nil || c.file.Checks(name) }
