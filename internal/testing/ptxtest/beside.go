package ptxtest

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The programs of examples/ are read by users, so their expectations (see expect.go) are in a file
// beside the tests and not in them. Each expectation repeats the text of its line: when a program
// is edited, the test names the entries that no longer fit.

//go:embed testdata/examples.txt
var besideText string

// besideDir is the directory whose kernels have their expectations in besideText.
const besideDir = "examples"

// note is a comment that belongs at the end of a line of a program.
type note struct {
	line          int
	text, comment string
}

// program is what besideText says about one file.
type program struct {
	verdict string
	notes   []note
}

var (
	besideFile = regexp.MustCompile(`^(\S+): (\w+)$`)
	besideNote = regexp.MustCompile(`^\t(\d+): (.*) // ((?:want|redundant:) .*)$`)
)

// parseBeside reads the expectations of several programs.
func parseBeside(text string) (map[string]*program, error) {
	programs := map[string]*program{}
	var last *program
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if m := besideFile.FindStringSubmatch(line); m != nil {
			if programs[m[1]] != nil {
				return nil, fmt.Errorf("line %d: %s is listed twice", i+1, m[1])
			}
			last = &program{verdict: m[2]}
			programs[m[1]] = last
			continue
		}
		m := besideNote.FindStringSubmatch(line)
		if m == nil || last == nil {
			return nil, fmt.Errorf(`line %d: %q is neither "FILE: VERDICT" nor "NUMBER: TEXT // want ..."`,
				i+1, line)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		last.notes = append(last.notes, note{n, m[2], m[3]})
	}
	return programs, nil
}

// annotate returns the text of a program with its expectations as comments. No line moves.
func (p *program) annotate(text string) (string, error) {
	lines := strings.Split(text, "\n")
	for _, n := range p.notes {
		if n.line < 1 || n.line > len(lines) || strings.TrimSpace(lines[n.line-1]) != n.text {
			return "", fmt.Errorf("line %d is not %q any more", n.line, n.text)
		}
	}
	for _, n := range p.notes {
		lines[n.line-1] += " // " + n.comment
	}
	return strings.Join(lines, "\n") + "\n// expect: " + p.verdict + "\n", nil
}

// Source returns the text of a test kernel with its expectations, whether these are in it or beside
// it.
func Source(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil || filepath.Base(filepath.Dir(path)) != besideDir {
		return string(text), err
	}
	programs, err := parseBeside(besideText)
	if err != nil {
		return "", fmt.Errorf("testdata/examples.txt: %w", err)
	}
	p := programs[filepath.Base(path)]
	if p == nil {
		return "", fmt.Errorf("%s: testdata/examples.txt does not say what is expected", path)
	}
	out, err := p.annotate(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: testdata/examples.txt: %w", path, err)
	}
	return out, nil
}
