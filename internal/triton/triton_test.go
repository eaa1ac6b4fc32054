package triton

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/launch"
	"heddle/internal/source"
)

// file adds a text as k.json.
func file(t testing.TB, text []byte) (*source.Set, *source.File) {
	t.Helper()
	set := source.NewSet()
	f, err := set.Add("k.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return set, f
}

// shape prints the facts of a file in a few words.
func shape(m *launch.Metadata) string {
	if m == nil {
		return "none"
	}
	if m.Foreign != "" {
		return "for " + m.Foreign
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if m.Kernel != "" {
		add("%s", m.Kernel)
	}
	if b := m.Request.Block; b != nil {
		add("block %s", launch.Dims(*b))
	}
	if c := m.Request.Cluster; c != nil {
		add("cluster %s", launch.Dims(*c))
	}
	if s := m.Request.Shared; s != nil {
		add("shared %d", *s)
	}
	if m.Cooperative {
		add("cooperative")
	}
	for _, h := range m.Hidden {
		add("%s", h)
	}
	for _, b := range m.Boxes {
		add("box %d", b)
	}
	for _, n := range m.Notes {
		add("note %.10s", n)
	}
	for _, u := range m.Unknown {
		add("unknown %s", u)
	}
	return strings.Join(out, ", ")
}

// What the versions of Triton write, shortened to what is read.
func TestRead(t *testing.T) {
	const target = `"target": {"backend": "cuda", "arch": 90, "warp_size": 32}, `
	for _, tt := range []struct{ name, text, want string }{
		{"3.0", `{"hash": "a", ` + target + `"num_warps": 4, "num_ctas": 1, "num_stages": 3,
			"cluster_dims": [1, 1, 1], "shared": 512, "name": "k"}`, "k, block 128, shared 512"},
		{"3.3", `{` + target + `"num_warps": 8, "num_ctas": 1, "cluster_dims": [1, 1, 1], "shared": 0,
			"global_scratch_size": 0, "global_scratch_align": 1, "name": "k"}`,
			"k, block 256, shared 0, global_scratch"},
		{"3.5", `{` + target + `"num_warps": 12, "num_ctas": 1, "shared": 98312, "tensordesc_meta": [],
			"launch_pdl": false, "launch_cooperative_grid": false, "global_scratch_size": 0,
			"profile_scratch_size": 0, "name": "k"}`,
			"k, block 384, shared 98312, global_scratch, profile_scratch"},
		{"an old target", `{"target": 80, "num_warps": 4, "shared": 16}`, "block 128, shared 16"},
		{"clusters", `{"num_warps": 4, "num_ctas": 2, "cluster_dims": [2, 1, 1]}`,
			"block 128, cluster 2"},
		{"clusters without dimensions", `{"num_warps": 4, "num_ctas": 4}`, "block 128, cluster 4"},
		{"one block uses no dimensions", `{"num_warps": 4, "num_ctas": 1, "cluster_dims": [2, 1, 1]}`,
			"block 128"},
		{"clusters of a fork", `{"num_warps": 4, "num_ctas": 1, "ctas_per_cga": [1, 2, 1]}`,
			"block 128, cluster 1,2"},
		{"no clusters of a fork", `{"num_warps": 4, "num_ctas": 1, "ctas_per_cga": null}`, "block 128"},
		{"cooperative, dependent", `{"num_warps": 4, "shared": 0, "launch_cooperative_grid": true,
			"launch_pdl": true}`, "block 128, shared 0, cooperative, note launch_pdl"},
		{"tensor maps", `{"num_warps": 4, "shared": 0, "tensordesc_meta": [
			{"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "fp4_padded": false},
			{"swizzle": 3, "elem_size": 1, "elem_type": 0, "block_size": [64, 64], "fp4_padded": true},
			{"elem_size": 4, "block_size": [4, 8], "order": [1, 0]}, {}]}`,
			"block 128, shared 0, box 8192, box 0, box 0, box 0"},
		{"boxes that do not exist", `{"num_warps": 4, "shared": 0, "tensordesc_meta": [
			{"elem_size": 2, "block_size": [64, 257]}, {"elem_size": 2, "block_size": []},
			{"elem_size": 0, "block_size": [8]}, {"elem_size": 2, "block_size": [-8, -8]},
			{"elem_size": 8, "block_size": [256, 256, 256, 256, 256]}, {"elem_size": 1, "block_size": [8]}
			]}`, "block 128, shared 0, box 0, box 0, box 0, box 0, box 0, box 0"},
		{"no tensor maps", `{"num_warps": 4, "shared": 0, "tensordesc_meta": {}}`,
			"block 128, shared 0"},
		{"a key about launches that nothing knows", `{"num_warps": 4, "shared": 0,
			"preferred_cluster_dims": [2, 1, 1], "launch_order": "snake", "launch_cluster": false,
			"block_hint": 0, "waves_per_eu": 2}`,
			"block 128, shared 0, unknown launch_order, unknown preferred_cluster_dims"},
		{"the last of two", `{"num_warps": 4, "num_warps": 8, "shared": 0}`, "block 256, shared 0"},
		{"another GPU", `{"target": {"backend": "hip", "arch": "gfx942", "warp_size": 64},
			"num_warps": 4}`, "for the backend hip"},
		{"other warps", `{"target": {"backend": "cuda", "warp_size": 64}, "num_warps": 4}`,
			"for warps of 64 threads"},

		{"a group of files", `{"child_paths": {"k.ptx": "/cache/k.ptx"}}`, "none"},
		{"an array", `[1, 2]`, "none"},
		{"a number", `7`, "none"},
		{"some options", `{"num_warps": 4}`, "none"},
		{"other JSON", `{"name": "k", "shared": "yes", "version": 2}`, "none"},
	} {
		_, f := file(t, []byte(tt.text))
		m, err := Read(f)
		if err != nil || m != nil && len(m.Errs) > 0 {
			t.Errorf("%s: %v %v", tt.name, err, m.Errs)
			continue
		}
		if got := shape(m); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Mistakes have a position, what was found, and what was expected.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"shared": 0, "num_warps": "four"}`,
			`k.json:1:28: num_warps is "four", expected a number of warps from 1 to 32`},
		{`{"shared": 0,` + "\n" + ` "num_warps": 0}`, `k.json:2:15: num_warps is 0, expected`},
		{`{"shared": 0, "num_warps": 33}`, `k.json:1:28: num_warps is 33, expected`},
		{`{"shared": 0, "num_warps": 4.0}`, `num_warps is 4.0, expected`},
		{`{"shared": 0, "num_warps": 1e9}`, `num_warps is 1e9, expected`},
		{`{"shared": 0, "num_warps": [[[1]]]}`, `num_warps is [[[1]]], expected`},
		{`{"num_warps": 4, "shared": -1}`, `k.json:1:28: shared is -1, expected bytes of shared memory`},
		{`{"num_warps": 4, "shared": 99999999999999999999}`, `shared is 99999999999999999999, expected`},
		{`{"num_warps": 4, "num_ctas": true}`, `num_ctas is true, expected a number of blocks`},
		{`{"num_warps": 4, "num_ctas": 2, "cluster_dims": [2, 0, 1]}`,
			`cluster_dims is [2, 0, 1], expected numbers from 1 to 16`},
		{`{"num_warps": 4, "num_ctas": 2, "cluster_dims": "2"}`, `cluster_dims is "2", expected up to`},
		{`{"num_warps": 4, "num_ctas": 2, "cluster_dims": [1,1,1,2]}`, `expected up to three numbers`},
		{`{"num_warps": 4, "shared": 0, "name": 7}`, `name is 7, expected the name of the kernel`},
		{`{"num_warps": 4, "shared": 0, "launch_cooperative_grid": "no"}`,
			`launch_cooperative_grid is "no", expected true or false`},
		{`{"num_warps": 4, "shared": 0, "tensordesc_meta": 3}`, `tensordesc_meta is 3, expected a list`},
		{`{"shared": 0, "num_warps": "` + strings.Repeat("x", 99) + "\"}",
			`num_warps is "` + strings.Repeat("x", 39) + `..., expected`},
		{`{"num_warps": 4,`, `k.json:1:17: k.json is not JSON: it ends too early`},
		{`{"num_warps": 4]`, `k.json:1:16: k.json is not JSON: invalid character ']'`},
		{`{"num_warps": 4, "shared": NaN}`, `is not JSON`},
		{``, `k.json:1:1: k.json is not JSON: it ends too early`},
		{"\xff\xfe{}", `is not JSON`},
		{`{"num_warps": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
			`is not JSON: `},
	} {
		set, f := file(t, []byte(tt.text))
		m, err := Read(f)
		var got []string
		if err != nil {
			got = append(got, set.Format(err.Span.Start)+": "+err.Msg)
		}
		if m != nil {
			for _, e := range m.Errs {
				got = append(got, set.Format(e.Span.Start)+": "+e.Msg)
			}
		}
		if len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%.80s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// No text makes the reader fail, and every mistake is at a place of the file and one line long.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"num_warps": 4, "num_ctas": 2, "cluster_dims": [2, 1, 1], "name": "k"}`))
	f.Add([]byte(`{"num_warps": 4, "shared": 0,
		"tensordesc_meta": [{"elem_size": 2, "block_size": [8]}]}`))
	f.Add([]byte(`{"num_warps": {"a": "\n"}, "shared": "\u0000"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, file := file(t, text)
		m, err := Read(file)
		var all []*launch.Error
		if m != nil {
			all = m.Errs
			if b := m.Request.Block; b != nil && (b.Count() == 0 || b.Count() > 1024) {
				t.Errorf("a block of %d threads", b.Count())
			}
		}
		if err != nil {
			all = append(all, err)
		}
		for _, e := range all {
			if !e.Span.IsValid() || strings.ContainsAny(e.Msg, "\n\r\x00") {
				t.Errorf("%v %q", e.Span, e.Msg)
			}
		}
	})
}
