package driver

// Names of synchronization as users of a language write it.

// BarrierName names the barrier of a block, or of a warp, in the language of a module.
func (m *Module) BarrierName(warp bool) string {
	switch {
	case m.CUDA() && warp:
		return "__syncwarp()"
	case m.CUDA():
		return "__syncthreads()"
	case m.OpenCL() && warp:
		return "sub_group_barrier()"
	case m.OpenCL():
		return "barrier()"
	case warp:
		return "bar.warp.sync"
	}
	return "bar.sync"
}

// FenceName names a fence for the threads of a block, or of the device, in the language of a module.
// instr is the instruction.
func (m *Module) FenceName(instr string, device bool) string {
	switch {
	case m.CUDA() && device:
		return "__threadfence()"
	case m.CUDA():
		return "__threadfence_block()"
	case m.OpenCL():
		return "a fence"
	}
	return instr
}
