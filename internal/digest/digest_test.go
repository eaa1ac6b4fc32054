package digest

import (
	"testing"

	"pgregory.net/rapid"
)

type position int

type node struct {
	Name  string
	At    position
	Next  *node
	Kids  []*node
	Table map[string][]int
	label string
	Any   any
	Call  func()
}

func sum(t *testing.T, d *Digester, values ...any) Sum {
	t.Helper()
	s, err := d.Of(values...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each pair differs in one thing that counts, but for the first ones, which differ in none.
func TestDigest(t *testing.T) {
	d := New(position(0)).Without(node{}, "label")
	loop := func(name string) *node {
		n := &node{Name: name}
		n.Next = n
		return n
	}
	one, other := &node{Name: "x"}, &node{Name: "x"}
	for _, c := range []struct {
		name  string
		a, b  any
		equal bool
	}{
		{"content at other places", *one, *other, true},
		{"an ignored type", node{At: 1}, node{At: 2}, true},
		{"an ignored field", node{label: "a"}, node{label: "b"}, true},
		{"the order of a map", map[string]int{"a": 1, "b": 2}, map[string]int{"b": 2, "a": 1}, true},
		{"a cycle", loop("a"), loop("a"), true},
		{"an empty slice", node{Kids: []*node{}}, node{}, true},

		{"a string", node{Name: "a"}, node{Name: "b"}, false},
		{"where strings end", []string{"ab", "c"}, []string{"a", "bc"}, false},
		{"a cycle with another name", loop("a"), loop("b"), false},
		{"one value or two equal ones", []*node{one, one}, []*node{one, other}, false},
		{"a value of a map", map[string]int{"a": 1}, map[string]int{"a": 2}, false},
		{"a key of a map", map[string]int{"a": 1}, map[string]int{"b": 1}, false},
		{"a slice of a map", node{Table: map[string][]int{"a": {1}}}, node{Table: map[string][]int{"a": {1, 0}}}, false},
		{"a type behind an interface", node{Any: int32(1)}, node{Any: int64(1)}, false},
		{"nil or zero", (*int)(nil), new(int), false},
		{"bytes", []byte{1, 2}, []byte{1, 3}, false},
		{"negative numbers", -1, 1, false},
	} {
		if got := sum(t, d, c.a) == sum(t, d, c.b); got != c.equal {
			t.Errorf("%s: equal is %v", c.name, got)
		}
	}
	if _, err := d.Of(node{Call: func() {}}); err == nil {
		t.Error("a function has a digest")
	}
	if _, err := d.Of(map[string]any{"a": func() {}}); err == nil {
		t.Error("a function in a map has a digest")
	}
}

// Digests of lists of numbers are equal if and only if the lists are.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 2), 0, 3), 0, 3)
		a, b := list.Draw(rt, "a"), list.Draw(rt, "b")
		same := len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = len(a[i]) == len(b[i])
			for j := 0; same && j < len(a[i]); j++ {
				same = a[i][j] == b[i][j]
			}
		}
		if (sum(t, New(), a) == sum(t, New(), b)) != same {
			rt.Fatalf("%v and %v", a, b)
		}
	})
}

func BenchmarkDigest(b *testing.B) {
	root := &node{}
	for range 10_000 {
		root.Kids = append(root.Kids, &node{Name: "instruction", Next: root})
	}
	for b.Loop() {
		if _, err := New().Of(root); err != nil {
			b.Fatal(err)
		}
	}
}
