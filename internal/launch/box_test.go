package launch

import "testing"

func TestParseBox(t *testing.T) {
	for _, c := range []struct {
		text string
		want Box // zero: an error
	}{
		{"A=4096", Box{"A", 4096}},
		{"A=box:64x128,elem:2", Box{"A", 16384}},
		{"B=box:32x4x2,elem:4", Box{"B", 1024}},
		{"A", Box{}}, {"=16", Box{}}, {"A=", Box{}}, {"A=8", Box{}}, {"A=0", Box{}}, {"A=-16", Box{}},
		{"A=box:64", Box{}}, {"A=box:64x,elem:2", Box{}}, {"A=1048576", Box{}},
		{"A=box:65536x65536x65536x65536,elem:4", Box{}},
	} {
		got, err := ParseBox(c.text)
		if got != c.want || (err != nil) != (c.want == Box{}) {
			t.Errorf("%s: got %+v, %v", c.text, got, err)
		}
	}
	b := Box{"A", 4096}
	if got, err := ParseBox(b.String()); got != b || err != nil {
		t.Errorf("%v: got %+v, %v", b, got, err)
	}
}
