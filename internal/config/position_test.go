package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each key and value of a document is found, whatever strings and comments are around it.
func TestLocate(t *testing.T) {
	const doc = `# x = 1
include = [ # two ] files
  'a#b', "c\"]",
]
exclude = ["""
x"y""""", '''z'''']
compile.std = "c++17" # x = 2

[[ kernel ]]
name = 'a'
"\u0067rid" = [8, 9]
[kernel.args]
'odd name' = "v"
n = { x = 1, y.z = [2] }
[[kernel]]
block = +1_6`
	pos := locate([]byte(doc))
	for path, want := range map[string]string{
		"include": "include =", "exclude": "exclude =", "compile.std": "compile.std", "kernel.0": "kernel ]]",
		"kernel.0.name": "name = 'a'", "kernel.0.grid": `"\u0067rid"`, "kernel.0.args": "kernel.args]",
		"kernel.0.args.odd name": "'odd name'", "kernel.0.args.n.x": "x = 1,", "kernel.0.args.n.y.z": "y.z",
		"kernel.1": "kernel]]\nblock", "kernel.1.block": "block",
	} {
		if off, ok := pos.keys[path]; !ok || !strings.HasPrefix(doc[off:], want) {
			t.Errorf("key %s is at %d, expected at %q", path, off, want)
		}
	}
	for path, want := range map[string]string{
		"include.0": "a#b", "include.1": `c\"`, "exclude.0": "\nx", "exclude.1": "z'", "compile.std": "c++17",
		"kernel.0.grid": "[8", "kernel.0.grid.1": "9]", "kernel.0.args.odd name": `v"`,
		"kernel.0.args.n.y.z.0": "2]", "kernel.1.block": "+1_6",
	} {
		if off, ok := pos.values[path]; !ok || !strings.HasPrefix(doc[off:], want) {
			t.Errorf("value %s is at %d, expected at %q", path, off, want)
		}
	}
	if n := len(pos.keys); n != 13 { // and kernel.0.args.n
		t.Errorf("%d keys: %v", n, pos.keys)
	}
}

// The scan ends within any text, with offsets in it.
func TestLocateEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("[[]]{}='\"\\a.,#\n k")), 0, 30, -1).Draw(t, "text")
		pos := locate([]byte(text))
		for _, m := range []map[string]int{pos.keys, pos.values} {
			for path, off := range m {
				if off < 0 || off > len(text) {
					t.Fatalf("%q: %s is at %d", text, path, off)
				}
			}
		}
	})
}
