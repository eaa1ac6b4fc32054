// Package crash carries a panic from the goroutine in which it occurred to one that can report it.
// Go ends the program for a panic that no function of its goroutine recovers, without a word about
// the command line that shows it.
package crash

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// First is the first panic of several goroutines, with its stack. The zero value has none.
type First struct {
	once sync.Once
	text string
}

// Keep recovers a panic. Each goroutine defers it.
func (f *First) Keep() {
	if p := recover(); p != nil {
		f.once.Do(func() { f.text = fmt.Sprintf("%v\n%s", p, debug.Stack()) })
	}
}

// Raise panics if one of the goroutines did. It must be called after all have ended.
func (f *First) Raise() {
	if f.text != "" {
		panic(f.text)
	}
}
