package lower

type probeCache struct{}

func newProbeCache(string) *probeCache        { return &probeCache{} }
func (*probeCache) get(string) (string, bool) { return "", false }
func (*probeCache) put(string, string)        {}
