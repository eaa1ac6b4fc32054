package launch

import (
	"strconv"

	"heddle/internal/ir"
)

// unmade is a launch that host code seems never to make, and the construct that this may depend on.
type unmade struct {
	kernel string
	beyond *Construct
}

// Beyond returns the construct that the facts of the launch that c follows may depend on although
// heddle may not follow it completely; nil if there is none. rests says which facts count: "grid",
// "block", and "arg NAME" for the parameters. Whether there are other launches counts always.
func (f *SourceFacts) Beyond(k *ir.Func, c *Config, rests func(fact string) bool) *Construct {
	if f == nil || c.Saved != "" || c.Host < 1 || c.Host > len(f.Launches) {
		return nil
	}
	for _, u := range f.unmade {
		if Matches(k, u.kernel) {
			return u.beyond
		}
	}
	doubts := f.Launches[c.Host-1].Doubts
	for _, fact := range []string{"grid", "block"} {
		if d := doubts[fact]; d != nil && rests(fact) {
			return d
		}
	}
	for i, v := range k.Params {
		if d := doubts[strconv.Itoa(i)]; d != nil && rests("arg "+paramName(v)) {
			return d
		}
	}
	return nil
}
