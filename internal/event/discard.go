package event

// Discard is a Sink that looks at nothing. Sinks that look at some events embed it.
type Discard struct{}

var _ Sink = Discard{}

func (Discard) Access(*Access)       {}
func (Discard) Copy(*Copy)           {}
func (Discard) CopyGroup(*CopyGroup) {}
func (Discard) Fence(*Fence)         {}
func (Discard) Arrive(*Arrive)       {}
func (Discard) Complete(*Complete)   {}
func (Discard) WarpSync(*WarpSync)   {}
func (Discard) Converge(*Converge)   {}
func (Discard) Exit(*Exit)           {}
func (Discard) Stall(*Stall)         {}
