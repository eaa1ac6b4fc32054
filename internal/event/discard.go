package event

// Discard is a Sink that ignores every event. A sink that handles only some events embeds it.
type Discard struct{}

var _ Sink = Discard{}

// Access implements Sink.
func (Discard) Access(*Access) {}

// Copy implements Sink.
func (Discard) Copy(*Copy) {}

// CopyGroup implements Sink.
func (Discard) CopyGroup(*CopyGroup) {}

// Fence implements Sink.
func (Discard) Fence(*Fence) {}

// Arrive implements Sink.
func (Discard) Arrive(*Arrive) {}

// Complete implements Sink.
func (Discard) Complete(*Complete) {}

// WarpSync implements Sink.
func (Discard) WarpSync(*WarpSync) {}

// Converge implements Sink.
func (Discard) Converge(*Converge) {}

// Exit implements Sink.
func (Discard) Exit(*Exit) {}

// Stall implements Sink.
func (Discard) Stall(*Stall) {}
