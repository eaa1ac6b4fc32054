package repair

func fences(r *repairer) []action            { return nil }
func fencesAndBarriers(r *repairer) []action { return nil }
func atomics(r *repairer) []action           { return nil }
func (r *repairer) reason() string {
	for _, f := range r.found {
		if f.Kind == Race && f.a == f.b && f.a != nil {
			return "two threads race at one and the same instruction, which no barrier can separate"
		}
	}
	for _, f := range r.found {
		if f.Kind == Race && f.Reach == AcrossBlocks {
			return "threads of different blocks race, and no barrier of a block orders them"
		}
	}
	if r.why != nil {
		return r.why.Error()
	}
	return "no placement of barriers helps"
}
