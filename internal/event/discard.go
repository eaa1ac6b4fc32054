package event

// Discard is a Sink that ignores every event. A sink that handles only some events embeds it.
type Discard struct{}

var _ Sink = Discard{}

// The methods of Sink, none of which does anything.
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
