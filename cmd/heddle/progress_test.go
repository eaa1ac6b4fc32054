package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"heddle/internal/command/exec"
)

// screen is a terminal with the control sequences of the progress line (ECMA-48, and DEC's for IND
// and the cursor), on which the cursor's line is the last one that was scrolled to.
type screen struct {
	rows     [][]rune
	row, col int
	saved    [2]int
}

// write prints text with control sequences.
func (s *screen) write(text string) {
	for _, c := range []struct {
		sequence string
		do       func()
	}{
		{"\x1b[J", func() {
			s.line()
			s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
			s.rows = s.rows[:s.row+1]
		}},
		{"\x1b[K", func() { s.line(); s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))] }},
		{"\x1bD", func() { s.row++ }},
		{"\x1b[A", func() { s.row-- }},
		{"\x1b[B", func() { s.row++ }},
		{"\x1b7", func() { s.saved = [2]int{s.row, s.col} }},
		{"\x1b8", func() { s.row, s.col = s.saved[0], s.saved[1] }},
		{"\r", func() { s.col = 0 }},
		{"\n", func() { s.row, s.col = s.row+1, 0 }},
	} {
		if rest, ok := strings.CutPrefix(text, c.sequence); ok {
			c.do()
			s.write(rest)
			return
		}
	}
	if text == "" {
		return
	}
	r := []rune(text)
	s.line()
	for len(s.rows[s.row]) <= s.col {
		s.rows[s.row] = append(s.rows[s.row], ' ')
	}
	s.rows[s.row][s.col] = r[0]
	s.col++
	s.write(string(r[1:]))
}

// line makes the cursor's line exist.
func (s *screen) line() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

// text returns what is on the screen.
func (s *screen) text() string {
	var out []string
	for _, r := range s.rows {
		out = append(out, strings.TrimRight(string(r), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// TestProgressOfLaunch: the line of a launch is below what the program has printed, also where it
// has begun a line, and nothing is left of it when the program goes on.
func TestProgressOfLaunch(t *testing.T) {
	var out bytes.Buffer
	p := newProgressBelow(&out)
	p.started = time.Now().Add(-time.Hour)
	var s screen
	check := func(want string) {
		t.Helper()
		s.write(out.String())
		out.Reset()
		if got := s.text(); got != want {
			t.Errorf("the screen shows %q, want %q", got, want)
		}
	}
	launch := exec.Progress{Kernel: "sum(int*)", Launch: 3, Blocks: 8, BlocksDone: 2,
		Steps: 2_500_000}
	s.write("sizes: 100\nsum ... ")
	p.launch(&launch)
	check("sizes: 100\nsum ...\n" +
		"launch 3 of sum(int*), 2 of 8 blocks, 2.5 M warp instructions, 3600 s")
	p.last, launch.BlocksDone = time.Time{}, 4
	p.launch(&launch)
	check("sizes: 100\nsum ...\n" +
		"launch 3 of sum(int*), 4 of 8 blocks, 2.5 M warp instructions, 3600 s")
	p.launch(nil)
	check("sizes: 100\nsum ...")
	s.write("12\n")
	check("sizes: 100\nsum ... 12")
	p.last = time.Time{}
	p.mu.Lock()
	p.draw() // by the clock, while the program goes on
	p.mu.Unlock()
	check("sizes: 100\nsum ... 12")
	p.launch(&launch)
	if _, err := p.wrap(&out).Write([]byte("a finding\n")); err != nil {
		t.Error(err)
	}
	p.stop()
	check("sizes: 100\nsum ... 12\na finding")
}
