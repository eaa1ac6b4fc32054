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

// CopyArrive implements Sink.
func (Discard) CopyArrive(*CopyArrive) {}

// Bulk implements Sink.
func (Discard) Bulk(*Bulk) {}

// BulkGroup implements Sink.
func (Discard) BulkGroup(*BulkGroup) {}

// Matrix implements Sink.
func (Discard) Matrix(*Matrix) {}

// MatrixGroup implements Sink.
func (Discard) MatrixGroup(*MatrixGroup) {}

// Tensor implements Sink.
func (Discard) Tensor(*TensorAgent) {}

// TensorSync implements Sink.
func (Discard) TensorSync(*TensorSync) {}

// Signal implements Sink.
func (Discard) Signal(*Signal) {}

// MBarrier implements Sink.
func (Discard) MBarrier(*MBarrier) {}

// ProxyFence implements Sink.
func (Discard) ProxyFence(*ProxyFence) {}

// Fence implements Sink.
func (Discard) Fence(*Fence) {}

// Arrive implements Sink.
func (Discard) Arrive(*Arrive) {}

// Complete implements Sink.
func (Discard) Complete(*Complete) {}

// Cluster implements Sink.
func (Discard) Cluster(*ClusterBarrier) {}

// InitFence implements Sink.
func (Discard) InitFence(*InitFence) {}

// WarpSync implements Sink.
func (Discard) WarpSync(*WarpSync) {}

// Converge implements Sink.
func (Discard) Converge(*Converge) {}

// Exit implements Sink.
func (Discard) Exit(*Exit) {}

// Stall implements Sink.
func (Discard) Stall(*Stall) {}
