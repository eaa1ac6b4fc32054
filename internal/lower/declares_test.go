package lower

import "testing"

// The name is M in each: what may declare it, so that removing another declaration of M could change
// the meaning of a use, and what can only use it.
func TestDeclares(t *testing.T) {
	cases := []struct {
		text string
		want bool
	}{
		{"typedef int M;", true},
		{"using M = int;", true},
		{"struct M", true},
		{"struct M *f();", true},
		{"template <class M> void f(M m)", true},
		{"int a, M, b;", true},
		{"int M = 3;", true},
		{"int M __attribute__((unused));", true},
		{"void M(int)", true},
		{"int f(int M)", true},
		{"namespace M", true},
		{"namespace M = a::b;", true},
		{"using a::M;", true},
		{"M::options d(3);", false},
		{"using namespace M;", false},
		{"void f(const M &m, int)", false},
		{"void f(M)", false},
		{"void f(int, const M &)", false},
		{"M make(int)", false},
		{"M<int> *make(int)", false},
		{"std::vector<M> list;", false},
		{"auto f() -> M", false},
		{"struct D : M", false},
		{"struct D : public M", false},
		{"struct Many x;", false},
		{"using K = std::map<int, M>;", false},
		{"using K = std::map<int, struct M>;", true},
		{"using M = std::map<int, K>;", true},
	}
	for _, c := range cases {
		if got := declares([]byte(c.text), "M"); got != c.want {
			t.Errorf("declares(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}
