package ir

import (
	"errors"
	"testing"
)

// checking makes the checker run after every transformation. It is on in tests and off in programs,
// as checkEnabled of cmd/compile is by its -d=ssa/check flag: a broken function then fails in the
// test that made it, and not in an engine that reads it later.
var checking = testing.Testing()

// Checked panics if the module breaks a rule of CheckModule. pass names what has just changed it.
// In programs it does nothing.
func Checked(pass string, m *Module) {
	if checking {
		mustHold(pass, CheckModule(m))
	}
}

// checkedFunc is Checked for one function.
func checkedFunc(pass string, f *Func) {
	if checking {
		mustHold(pass, Check(f))
	}
}

// mustHold panics with all errors. A broken function is a bug of heddle and not of the input.
func mustHold(pass string, errs []error) {
	if err := errors.Join(errs...); err != nil {
		panic("BUG: ir: after " + pass + ": " + err.Error())
	}
}
