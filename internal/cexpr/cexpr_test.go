package cexpr

import (
	"strings"
	"testing"
)

// In each line, ^ stands before the position. The expectations are the expressions of C at these
// tokens, as clang's debug information has them: the first token of a subscript, the name of a
// member, the operator of an assignment.
func TestLoadStore(t *testing.T) {
	for _, c := range []struct{ line, load, store string }{
		{line: "tile[t] += ^tile[t + s];", load: "tile[t + s]"},
		{line: "tile[t] ^+= tile[t + s];", store: "tile[t]", load: "tile[t]"},
		{line: "	s[l][k + (l >> 1)] ^= in[g];", store: "s[l][k + (l >> 1)]"},
		{line: "float v = ^*p;", load: "*p"},
		{line: "float v = ^*(p + i);", load: "*(p + i)"},
		{line: "*p^= 3;", store: "*p"},
		{line: "  **p ^= 3;", store: "**p"},
		{line: "x = a * b[i]; c ^= 1;", store: "c"},
		{line: "if (t == 0) *out ^= 1;", store: "*out"},
		{line: "__syncwarp(); if (t == 0) *out ^= 1;", store: "*out"},
		{line: "x = a * b[i]^++;", store: "b[i]"},
		{line: "ns::^v::w[1];", load: "ns::v::w[1]"},
		{line: "^wmma::store_matrix_sync(c, f, 16);", load: "wmma::store_matrix_sync(c, f, 16)", store: "wmma::store_matrix_sync(c, f, 16)"},
		{line: "x = q->^y + 1;", load: "q->y"},
		{line: "x = q[i].w->^y[j] + 1;", load: "q[i].w->y[j]"},
		{line: "q[i].w->y ^|= 2;", store: "q[i].w->y"},
		{line: "count[bin]^++;", store: "count[bin]"},
		{line: "^++count[bin];", store: "count[bin]"},
		{line: "x ^<<= 2;", store: "x"},
		{line: "^atomicAdd(&bins[data[i]], 1u);", load: "atomicAdd(&bins[data[i]], 1u)", store: "atomicAdd(&bins[data[i]], 1u)"},
		{line: "v = ^f(x)[2];", load: "f(x)[2]"},
		{line: "f(x)[2] ^= 1;", store: "f(x)[2]"},
		{line: "(*p).x ^= 1;", store: "(*p).x"},
		{line: "ns::^v[1] = 2;", load: "ns::v[1]"},
		{line: "a == ^b ? 1 : 2", load: "b"},
		// no expression of one line
		{line: "v = ^tile[t +"},
		{line: "^"},
		{line: "v = ^\"text\";"},
		{line: "T<3>::^v[1] = 2;"},
		{line: "x ^; y"},
		{line: "^= 1;"},
		{line: "v = ^s[c == '[' ? 1 : 2];"},
	} {
		col := strings.Index(c.line, "^") + 1
		line := c.line[:col-1] + c.line[col:]
		for _, f := range []struct {
			name string
			find func(string, int) (int, int, bool)
			want string
		}{{"load", Load, c.load}, {"store", Store, c.store}} {
			from, to, ok := f.find(line, col)
			got := ""
			if ok {
				got = line[from-1 : to-1]
			}
			if f.name == "store" && c.store == "" && c.load != "" || f.name == "load" && c.load == "" && c.store != "" {
				continue // the other one is asked
			}
			if got != f.want {
				t.Errorf("%s at column %d of %q: got %q, want %q", f.name, col, line, got, f.want)
			}
		}
	}
}

// FuzzExpr reads arbitrary lines: a range is within the line.
func FuzzExpr(f *testing.F) {
	f.Add("tile[t] += tile[t + s];", 9)
	f.Add("q[i].w->y |= 2", 11)
	f.Add("*&(a)--", 6)
	f.Fuzz(func(t *testing.T, line string, col int) {
		for _, find := range []func(string, int) (int, int, bool){Load, Store} {
			if from, to, ok := find(line, col); ok && (from < 1 || to <= from || to > len(line)+1) {
				t.Errorf("columns %d-%d of a line of %d bytes", from, to, len(line))
			}
		}
	})
}
