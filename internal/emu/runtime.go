package emu

import (
	"bytes"
	"fmt"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/order"
)

// The device runtime (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", API reference). nvcc
// prefixes the names with __cudaCDP2.

// runtimeFunction is a function of the device runtime.
type runtimeFunction struct {
	sizes []int // of its parameters, in bytes; one of 12 is a dim3
	run   func(x *exec, in *inst, l int, args []uint64) (result uint64, ok bool)
}

// runtimeFunctions are those that the emulator executes. Arguments that are structs have several
// elements.
var runtimeFunctions map[string]runtimeFunction

func init() { // the functions lead back to it through the grids that they run
	runtimeFunctions = map[string]runtimeFunction{
		"cudaGetParameterBufferV2":  {[]int{8, 12, 12, 4}, runtimeBufferV2},
		"cudaLaunchDeviceV2":        {[]int{8, 8}, runtimeLaunchV2},
		"cudaGetParameterBuffer":    {[]int{8, 8}, runtimeBuffer},
		"cudaLaunchDevice":          {[]int{8, 8, 12, 12, 4, 8}, runtimeLaunch},
		"cudaGetLastError":          {nil, runtimeLastError},
		"cudaPeekAtLastError":       {nil, runtimePeekError},
		"cudaStreamCreateWithFlags": {[]int{8, 4}, runtimeStream},
		"cudaStreamDestroy":         {[]int{8}, runtimeDestroy},
		"cudaEventCreateWithFlags":  {[]int{8, 4}, runtimeEvent},
		"cudaEventRecord":           {[]int{8, 8}, runtimeRecord},
		"cudaEventRecordWithFlags":  {[]int{8, 8, 4}, runtimeRecord},
		"cudaStreamWaitEvent":       {[]int{8, 8, 4}, runtimeWait},
		"cudaEventDestroy":          {[]int{8}, runtimeEventDestroy},
		"cudaMalloc":                {[]int{8, 8}, runtimeMalloc},
		"cudaMemcpyAsync":           {[]int{8, 8, 8, 4, 8}, runtimeCopy},
		"cudaMemsetAsync":           {[]int{8, 4, 8, 8}, runtimeSet},
		"cudaFree":                  {[]int{8}, runtimeFree},
		"cudaGetDevice":             {[]int{8}, runtimeDevice},
		"cudaGetDeviceCount":        {[]int{8}, runtimeDeviceCount},
	}
}

// notInKernels says of functions of the device runtime why they are not executed.
var notInKernels = map[string]string{
	"cudaDeviceSynchronize": "CUDA 12 has removed it from device code: a kernel cannot wait for the " +
		"grids that it launches",
	"cudaMemcpy2DAsync":       "copies that device code enqueues are not supported",
	"cudaMemcpy3DAsync":       "copies that device code enqueues are not supported",
	"cudaMemset2DAsync":       "copies that device code enqueues are not supported",
	"cudaMemset3DAsync":       "copies that device code enqueues are not supported",
	"cudaGraphLaunch":         "graphs that device code launches are not supported",
	"cudaGetCurrentGraphExec": "graphs that device code launches are not supported",
	"cudaLaunchDevice_ptsz":   "default streams of threads are not supported in device code",
	"cudaLaunchDeviceV2_ptsz": "default streams of threads are not supported in device code",
	"__cudaDeviceSynchronizeDeprecationAvoidance": "CUDA 12 has removed it from device code: a kernel " +
		"cannot wait for the grids that it launches",
}

// runtimeName returns the name of a function without the prefix for the second version of dynamic
// parallelism.
func runtimeName(name string) string {
	if rest, ok := strings.CutPrefix(name, "__cudaCDP2"); ok {
		return "cuda" + rest
	}
	return name
}

// runtimeOf returns the function of the device runtime that an instruction calls; ok is false for
// other calls.
func runtimeOf(f *ir.Func) (name string, r runtimeFunction, ok bool) {
	if f == nil || len(f.Blocks) > 0 {
		return "", r, false
	}
	name = runtimeName(f.Name)
	r, ok = runtimeFunctions[name]
	return name, r, ok
}

// launches reports whether some function may call the device runtime.
func launchesGrids(funcs []*fcode) bool {
	for _, fc := range funcs {
		for _, b := range fc.fn.Blocks {
			for _, in := range b.Instrs {
				if _, _, ok := runtimeOf(in.Callee); ok {
					return true
				}
			}
		}
	}
	return false
}

// runtimeCall decodes a call of the device runtime.
func (c *compiler) runtimeCall(in *ir.Instr, name string, r runtimeFunction) error {
	if c.slice != nil || c.p.track {
		return fmt.Errorf("call of %s: dynamic parallelism (a kernel that launches kernels) is not "+
			"supported in a trace, or with unknown inputs", in.Callee.Name)
	}
	if c.p.clusters {
		return fmt.Errorf("call of %s: dynamic parallelism in a kernel with clusters is not supported",
			in.Callee.Name)
	}
	if len(in.Src) != len(r.sizes) {
		return fmt.Errorf("call of %s with %d arguments; it has %d", in.Callee.Name, len(in.Src),
			len(r.sizes))
	}
	for i, o := range in.Src {
		if o.Kind != ir.VarVal || o.Var.Size != r.sizes[i] || o.Var.InReg {
			return fmt.Errorf("call of %s: argument %d must be a .param variable of %d bytes",
				in.Callee.Name, i, r.sizes[i])
		}
	}
	for _, o := range in.Dst {
		if o.Kind == ir.VarVal && (o.Var.Size > 8 || o.Var.InReg) {
			return fmt.Errorf("call of %s: the result must be a .param variable of at most 8 bytes", name)
		}
	}
	if name == "cudaMalloc" || name == "cudaFree" {
		if err := c.noteBuiltin("malloc"); err != nil {
			return err
		}
	}
	run := func(x *exec, in *inst) {
		mask := x.m
		var buf [16]uint64
		for l := range event.WarpSize {
			if mask>>l&1 == 0 {
				continue
			}
			result, ok := r.run(x, in, l, x.runtimeArgs(in, l, buf[:0]))
			if !ok {
				return
			}
			if dst := in.ir.Dst; len(dst) > 0 && dst[0].Kind == ir.VarVal {
				storeParam(place{x.frame, dst[0].Var}.bytes(l), result)
			}
		}
	}
	c.emit(inst{run: run, guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}})
	return nil
}

// runtimeArgs appends the arguments of a call: one element for each, three for a dim3.
func (x *exec) runtimeArgs(in *inst, l int, args []uint64) []uint64 {
	for _, o := range in.ir.Src {
		b := place{x.frame, o.Var}.bytes(l)
		if len(b) != 12 {
			args = append(args, loadParam(b))
			continue
		}
		for ; len(b) > 0; b = b[4:] {
			args = append(args, loadParam(b[:4]))
		}
	}
	return args
}

// runtimeBufferV2 is cudaGetParameterBufferV2(function, grid, block, shared): a buffer for the
// parameters of a launch, whose configuration it keeps.
func runtimeBufferV2(x *exec, _ *inst, l int, args []uint64) (uint64, bool) {
	at := x.parameterBuffer()
	if at == 0 {
		x.runtimeError(l, cudaErrorLaunchPendingCount)
		return 0, true
	}
	x.kin.keep(at, &gridConfig{kernel: args[0], grid: dimsOf(args[1:]), block: dimsOf(args[4:]),
		shared: uint32(args[7])})
	return at, true
}

// runtimeBuffer is cudaGetParameterBuffer(alignment, size).
func runtimeBuffer(x *exec, _ *inst, l int, args []uint64) (uint64, bool) {
	at := uint64(0)
	if args[1] <= parameterBytes {
		at = x.parameterBuffer()
	}
	if at == 0 {
		x.runtimeError(l, cudaErrorLaunchPendingCount)
		return 0, true
	}
	x.kin.keep(at, &gridConfig{})
	return at, true
}

// keep notes the configuration of the launch whose parameters are in a buffer.
func (f *family) keep(at uint64, c *gridConfig) {
	if f.pending == nil {
		f.pending = make(map[uint64]*gridConfig)
	}
	f.pending[at] = c
}

// runtimeLaunchV2 is cudaLaunchDeviceV2(buffer, stream).
func runtimeLaunchV2(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	c := x.kin.pending[args[0]]
	if c == nil {
		return x.runtimeError(l, cudaErrorInvalidValue), true
	}
	c.stream = args[1]
	return x.launchFrom(in, l, args[0], *c)
}

// runtimeLaunch is cudaLaunchDevice(function, buffer, grid, block, shared, stream).
func runtimeLaunch(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	if args[1] != 0 && x.kin.pending[args[1]] == nil {
		return x.runtimeError(l, cudaErrorInvalidValue), true
	}
	return x.launchFrom(in, l, args[1], gridConfig{kernel: args[0], grid: dimsOf(args[2:]),
		block: dimsOf(args[5:]), shared: uint32(args[8]), stream: args[9]})
}

// launchFrom launches a grid with the parameters in a buffer, which is free then.
func (x *exec) launchFrom(in *inst, l int, buffer uint64, c gridConfig) (uint64, bool) {
	if k := x.prog.kernelAt(c.kernel); k != nil {
		var ok bool
		if c.params, ok = x.paramsOf(k, buffer); !ok {
			return x.runtimeError(l, cudaErrorInvalidValue), true
		}
		if !x.checkPointers(in, l, k, c.params) {
			return 0, false
		}
	}
	if buffer != 0 {
		delete(x.kin.pending, buffer)
		x.kin.free = append(x.kin.free, buffer)
	}
	return x.launchGrid(in, l, c)
}

// checkPointers ends the run if a pointer among the parameters of a launch leads to shared or local
// memory, which are those of the launching thread (CUDA C++ Programming Guide, "Shared and Local
// Memory").
func (x *exec) checkPointers(in *inst, l int, k *ir.Func, params []byte) bool {
	sp := &x.prog.space
	for _, v := range k.Params {
		if !v.Pointer || v.Size != 8 {
			continue
		}
		memory := ""
		switch at := loadParam(params[v.Offset : v.Offset+8]); sp.windowOf(at) {
		case sharedWindow:
			memory = "shared"
		case localWindow:
			memory = "local"
		}
		if memory != "" {
			x.fail(in, OutOfBounds, l, "argument %s of %s points to %s memory of the launching thread, which "+
				"a grid cannot access", v.Shown(), k.Demangled, memory)
			return false
		}
	}
	return true
}

// runtimeLastError is cudaGetLastError(), which forgets the error.
func runtimeLastError(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	err, ok := runtimePeekError(x, in, l, args)
	delete(x.kin.errors, event.ThreadOf(x.warp.id, l))
	return err, ok
}

// runtimePeekError is cudaPeekAtLastError().
func runtimePeekError(x *exec, _ *inst, l int, _ []uint64) (uint64, bool) {
	return x.kin.errors[event.ThreadOf(x.warp.id, l)], true
}

// streamNonBlocking is the flag with which streams of the device must be created.
const streamNonBlocking = 1

// runtimeStream is cudaStreamCreateWithFlags(&stream, flags).
func runtimeStream(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	return x.newHandle(in, l, args, &x.kin.streams, streamNonBlocking)
}

// newHandle creates a stream or an event, with the only flags that the device runtime allows.
func (x *exec) newHandle(in *inst, l int, args []uint64, of *map[uint64]bool,
	flags uint64) (uint64, bool) {
	if args[1] != flags {
		return x.runtimeError(l, cudaErrorInvalidValue), true
	}
	if *of == nil {
		*of = make(map[uint64]bool)
	}
	handle := firstGridStream + x.kin.created
	x.kin.created++
	(*of)[handle] = true
	return cudaSuccess, x.poke(in, l, args[0], 8, handle)
}

// runtimeDestroy is cudaStreamDestroy(stream). What was launched into the stream has ended.
func runtimeDestroy(x *exec, _ *inst, l int, args []uint64) (uint64, bool) {
	return x.endHandle(l, x.kin.streams, args[0]), true
}

// endHandle destroys a stream or an event.
func (x *exec) endHandle(l int, of map[uint64]bool, handle uint64) uint64 {
	if !of[handle] {
		return x.runtimeError(l, cudaErrorInvalidHandle)
	}
	delete(of, handle)
	return cudaSuccess
}

// eventDisableTiming is the flag with which events of the device must be created.
const eventDisableTiming = 2

// runtimeEvent is cudaEventCreateWithFlags(&event, flags).
func runtimeEvent(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	return x.newHandle(in, l, args, &x.kin.events, eventDisableTiming)
}

// runtimeRecord is cudaEventRecord(event, stream), with flags that select nothing.
func runtimeRecord(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	return x.eventWork(in, l, args[0], args[1], false), true
}

// runtimeWait is cudaStreamWaitEvent(stream, event, flags).
func runtimeWait(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	if args[2] != 0 {
		return x.runtimeError(l, cudaErrorInvalidValue), true
	}
	return x.eventWork(in, l, args[1], args[0], true), true
}

// eventWork tells of a record of an event in a stream, or of a wait for it. What is in the stream
// has been executed, so that nothing waits; the consumer of events knows what is ordered. Named
// streams are for launches alone.
func (x *exec) eventWork(in *inst, l int, handle, stream uint64, wait bool) uint64 {
	switch {
	case stream == tailStream || stream == fireAndForgetStream:
		return x.runtimeError(l, cudaErrorInvalidValue)
	case !x.kin.events[handle] || stream != nullStream && !x.kin.streams[stream]:
		return x.runtimeError(l, cudaErrorInvalidHandle)
	}
	if sink, ok := x.sink.(event.LaunchSink); ok {
		e := x.launchEvent(in, l, stream)
		e.Event, e.Wait = handle, wait
		sink.Launch(&e)
	}
	return cudaSuccess
}

// runtimeEventDestroy is cudaEventDestroy(event). Streams that wait for it go on to do so.
func runtimeEventDestroy(x *exec, _ *inst, l int, args []uint64) (uint64, bool) {
	return x.endHandle(l, x.kin.events, args[0]), true
}

// runtimeMalloc is cudaMalloc(&pointer, size): memory of the device's heap.
func runtimeMalloc(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	addr, ok := builtinMalloc(x, in, l, args[1:])
	if !ok || !x.poke(in, l, args[0], 8, addr) {
		return 0, false
	}
	if addr == 0 && args[1] > 0 {
		return x.runtimeError(l, cudaErrorMemoryAllocation), true
	}
	return cudaSuccess, true
}

// runtimeFree is cudaFree(pointer).
func runtimeFree(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	_, ok := builtinFree(x, in, l, args)
	return cudaSuccess, ok
}

// runtimeDevice is cudaGetDevice(&number).
func runtimeDevice(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	return cudaSuccess, x.poke(in, l, args[0], 4, 0)
}

// runtimeDeviceCount is cudaGetDeviceCount(&count).
func runtimeDeviceCount(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	return cudaSuccess, x.poke(in, l, args[0], 4, 1)
}

// runtimeCopy is cudaMemcpyAsync(to, from, size, kind, stream).
func runtimeCopy(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	to, from, n := args[0], args[1], args[2]
	err, ok := x.enqueues(in, l, args[4])
	if err != cudaSuccess || !ok || n == 0 {
		return err, ok
	}
	o := x.find(from)
	if o == nil || !o.contains(from-o.base, n) {
		x.fail(in, OutOfBounds, l, "cudaMemcpyAsync reads %d bytes of %s", n, x.describe(from))
		return 0, false
	}
	if !x.mayFill(in, l, "cudaMemcpyAsync", to, n) {
		return 0, false
	}
	b := make([]byte, n)
	o.read(from, b)
	x.fillGlobal(to, b)
	x.sendWork(in, l, args[4], event.GridAccess{From: from, To: from + n},
		event.GridAccess{From: to, To: to + n, Write: true})
	return cudaSuccess, true
}

// runtimeSet is cudaMemsetAsync(to, value, size, stream).
func runtimeSet(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	to, n := args[0], args[2]
	err, ok := x.enqueues(in, l, args[3])
	if err != cudaSuccess || !ok || n == 0 {
		return err, ok
	}
	if !x.mayFill(in, l, "cudaMemsetAsync", to, n) {
		return 0, false
	}
	x.fillGlobal(to, bytes.Repeat([]byte{byte(args[1])}, int(n)))
	x.sendWork(in, l, args[3], event.GridAccess{From: to, To: to + n, Write: true})
	return cudaSuccess, true
}

// enqueues checks the stream and the size of memory work that a lane enqueues, which is executed at
// once.
func (x *exec) enqueues(in *inst, l int, stream uint64) (err uint64, ok bool) {
	switch {
	case stream == tailStream:
		x.fail(in, Unsupported, l, "a copy into cudaStreamTailLaunch is not supported")
		return 0, false
	case stream == nullStream || stream == fireAndForgetStream || x.kin.streams[stream]:
		return cudaSuccess, true
	}
	return x.runtimeError(l, cudaErrorInvalidHandle), true
}

// mayFill reports whether n bytes at an address are in one object of global memory, which functions
// of the device runtime may write. If not, the run ends.
func (x *exec) mayFill(in *inst, l int, name string, to, n uint64) bool {
	o := x.find(to)
	if o == nil || o.space != event.Global || !o.contains(to-o.base, n) {
		x.fail(in, OutOfBounds, l, "%s writes %d bytes of %s", name, n, x.describe(to))
		return false
	}
	if n > x.opt.Memory { // of an array of unknown size
		x.outOfMemory()
		return false
	}
	return true
}

// fillGlobal writes to global memory, where mayFill allows it.
func (x *exec) fillGlobal(to uint64, b []byte) {
	o := x.find(to)
	for len(b) > 0 {
		k := copy(o.at(to)[to&pageMask:], b)
		to, b = to+uint64(k), b[k:]
	}
	x.wrote, x.changed = true, true
}

// sendWork tells of memory work that a lane has enqueued: it is ordered as a grid is.
func (x *exec) sendWork(in *inst, l int, stream uint64, accesses ...event.GridAccess) {
	if x.touched != nil {
		x.touched.Origin = 0
		for _, a := range accesses {
			kind := order.Read
			if a.Write {
				kind = order.Write
			}
			x.touched.Mark(kind, a.From, a.To-a.From)
		}
	}
	if sink, ok := x.sink.(event.LaunchSink); ok {
		e := x.launchEvent(in, l, stream)
		e.Accesses = accesses
		sink.Launch(&e)
	}
}
