// Package lazyregexp compiles regular expressions when they are first used. There are two hundred
// of them, and compiling all of them took a third of the time in which heddle starts.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression of the package regexp. Its methods are those of regexp.Regexp.
type Regexp struct{ compiled func() *regexp.Regexp }

// inTest says that this is the program of a test.
var inTest = strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns the regular expression of a text. It panics for a text that is none when it is first
// used, and in tests at once.
func New(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if inTest {
		r.compiled()
	}
	return r
}

// Find is the method of regexp.Regexp.
func (r *Regexp) Find(b []byte) []byte {
	return r.compiled().Find(b)
}

// FindAll is the method of regexp.Regexp.
func (r *Regexp) FindAll(b []byte, n int) [][]byte {
	return r.compiled().FindAll(b, n)
}

// FindAllIndex is the method of regexp.Regexp.
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllIndex(b, n)
}

// FindAllString is the method of regexp.Regexp.
func (r *Regexp) FindAllString(s string, n int) []string {
	return r.compiled().FindAllString(s, n)
}

// FindAllStringIndex is the method of regexp.Regexp.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// FindAllSubmatch is the method of regexp.Regexp.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

// FindAllSubmatchIndex is the method of regexp.Regexp.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllSubmatchIndex(b, n)
}

// FindIndex is the method of regexp.Regexp.
func (r *Regexp) FindIndex(b []byte) []int {
	return r.compiled().FindIndex(b)
}

// FindString is the method of regexp.Regexp.
func (r *Regexp) FindString(s string) string {
	return r.compiled().FindString(s)
}

// FindStringIndex is the method of regexp.Regexp.
func (r *Regexp) FindStringIndex(s string) []int {
	return r.compiled().FindStringIndex(s)
}

// FindStringSubmatch is the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string {
	return r.compiled().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindSubmatch is the method of regexp.Regexp.
func (r *Regexp) FindSubmatch(b []byte) [][]byte {
	return r.compiled().FindSubmatch(b)
}

// Match is the method of regexp.Regexp.
func (r *Regexp) Match(b []byte) bool {
	return r.compiled().Match(b)
}

// MatchString is the method of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool {
	return r.compiled().MatchString(s)
}

// ReplaceAllString is the method of regexp.Regexp.
func (r *Regexp) ReplaceAllString(s, to string) string {
	return r.compiled().ReplaceAllString(s, to)
}

// ReplaceAllStringFunc is the method of regexp.Regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, to func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, to)
}

// ReplaceAll is the method of regexp.Regexp.
func (r *Regexp) ReplaceAll(b, to []byte) []byte { return r.compiled().ReplaceAll(b, to) }

// ReplaceAllLiteralString is the method of regexp.Regexp.
func (r *Regexp) ReplaceAllLiteralString(s, to string) string {
	return r.compiled().ReplaceAllLiteralString(s, to)
}

// Split is the method of regexp.Regexp.
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }
