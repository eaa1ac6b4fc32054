package main

import (
	"path/filepath"
	"strings"
)

// label is the verdict that heddle run must return for a configuration of Barracuda's tests. It
// follows from the PTX ISA (9.1) and the CUDA C++ Programming Guide for sm_70 and later.
type label struct {
	file   string
	config string // macros, then BLOCKSxTHREADS; "*" matches any words
	want   string // verdict
	why    string // reason, with its section
	whyNot string // what is wrong with the suite's label; empty: it is the same
}

// labels lists the labels; the first that matches counts.
var labels = []label{
	{"atomic_increment", "* 1x3", "clean",
		"the condition on THREADS is false: no thread executes the atomic", ""},
	{"atomic_increment", "* 2x1", "clean",
		"the condition on THREADS is false: no thread executes the atomic", ""},
	{"atomic_increment", "*", "other",
		"no race, but a 4-byte atomic on an object of 1 byte: out of bounds", ""},

	{"base", "*", "bug", "unordered stores, or a load and a store, to the same byte (ISA 8.7.1)", ""},
	{"base_with_syncthreads", "* 1x33", "clean",
		"the two accesses are on both sides of a barrier of their block (ISA 9.7.13.1)", ""},
	{"base_with_syncthreads", "* 2x1", "bug",
		"a barrier does not order blocks; equal values do not make it less of a race (ISA 8.7.1)", ""},
	{"branch_race", "*", "bug", "a lane stores and another loads on different paths of a branch, " +
		"which are not ordered", ""},

	{"flag_sync_across_blocks", "2x1", "clean",
		"volatile accesses are relaxed at .sys, and so morally strong (ISA 8.7, 9.7.9.8)", ""},
	{"flag_sync_across_blocks", "ATOMIC*", "clean", "two atomics are morally strong (ISA 8.7)", ""},
	{"flag_sync_across_blocks", "NO_VOLATILE PTX_CA *", "bug",
		"a weak store and a weak load (ISA 8.7.1)", ""},
	{"flag_sync_across_blocks", "NO_VOLATILE PTX_CG *", "bug",
		"a weak store and a weak load (ISA 8.7.1)",
		"a cache operator is a hint and does not make an access strong (ISA 9.7.9.1): the spin loop " +
			"uses a weak load"},

	{"implicit_intra_warp_sync", "*", "bug", "two lanes access one byte without __syncwarp",
		"lanes are not in lock step since sm_70: only program order and synchronization order them " +
			"(ISA 3.1, 8.7.1)"},

	{"warp_lock", "SHARED* 2x1", "clean", "each block has its own x and one thread",
		"a block of one thread cannot race on shared memory"},
	{"warp_lock", "* SHARED 2x1", "clean", "each block has its own x and one thread",
		"a block of one thread cannot race on shared memory"},
	{"warp_lock", "GLOBAL 1x33", "clean", lockOrders, ""},
	{"warp_lock", "GLOBAL 2x1", "clean", lockOrders, ""},
	{"warp_lock", "SHARED 1x33", "clean", lockOrders, ""},
	{"warp_lock", "* NO_VOLATILE *", "clean", lockOrders, noVolatile},
	{"warp_lock", "NO_VOLATILE *", "clean", lockOrders, noVolatile},
	{"warp_lock", "*", "bug", "without a fence on one side, the atomics are relaxed and synchronize " +
		"nothing (ISA 8.8)", ""},

	{"two_streams", "*", "clean", "one launch of one thread",
		"the race is between two launches, and heddle checks one at a time"},
	{"dynamic_parallelism", "PARENT_LEADS *", "unsupported",
		"another kernel of the file calls cudaDeviceSynchronize, which CUDA 12 has removed from device " +
			"code", ""},
	{"dynamic_parallelism", "*", "bug", "a kernel cannot wait for the grid that it launches",
		"every kernel of the file is examined, racey_kernel too"},
	{"dynamic_parallelism_with_streams", "*DEVICE_SYNC*", "unsupported",
		"CUDA 12 has removed cudaDeviceSynchronize from device code", "not decided"},
	{"dynamic_parallelism_with_streams", "*EVENT_SYNC*", "unsupported",
		"cudaEventCreate and cudaEventSynchronize are functions of the host: in device code nvcc refuses " +
			"them too, and cudaEventCreateWithFlags creates events", "not decided"},
	{"dynamic_parallelism_with_streams", "*", "bug", "two streams of the device are in no order", ""},
}

const (
	lockOrders = "fence and atomic exchange are a release pattern, compare-and-swap and fence an " +
		"acquire pattern (ISA 8.8)"
	noVolatile = "the lock is accessed by atomics only, which volatile does not affect"
)

// labelOf returns the label of a configuration, or nil.
func labelOf(file, config string) *label {
	for i := range labels {
		if l := &labels[i]; l.file == file && matches(l.config, config) {
			return l
		}
	}
	return nil
}

// matches reports whether s matches a pattern in which * stands for any text, also none.
func matches(pattern, s string) bool {
	head, tail, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	rest, ok := strings.CutPrefix(s, head)
	if !ok {
		return false
	}
	for i := range len(rest) + 1 {
		if matches(tail, rest[i:]) {
			return true
		}
	}
	return false
}

// exceptions lists kernels of GPUVerify's suite that should pass but on which heddle run correctly
// reports a race, by the end of their path, with the reason.
var exceptions = map[string]string{
	"CUDA/annotation_tests/test_axiom":   contradictsAxiom,
	"OpenCL/annotation_tests/test_axiom": contradictsAxiom,

	"CUDA/pointertests/test12":                     readBeside,
	"OpenCL/multidimarrays/test5":                  readBeside,
	"OpenCL/benign_race_tests/pass/readafterwrite": readBeside,
	"OpenCL/benign_race_tests/pass/writeafterread": readBeside,

	"OpenCL/inter_group_and_barrier_flag_tests/pass/read_then_write": differentFlags,
	"OpenCL/inter_group_and_barrier_flag_tests/pass/write_then_read": differentFlags,
}

const (
	contradictsAxiom = "an __axiom states that there is only one block; axioms have no effect on a run"
	readBeside       = "a read with unordered writes that do not change the value, which GPUVerify " +
		"tolerates, is a data race (ISA 8.7.1)"
	differentFlags = "only one work-item's barrier has the flag of local memory, and each fences " +
		"with its own flags (OpenCL C 3.0, 6.15.8)"
)

// provedAllTheSame lists kernels of GPUVerify's suite that GPUVerify does not verify although they
// are correct, by the end of their path, with the reason why a proof is correct.
var provedAllTheSame = map[string]string{
	"CUDA/loop_unwind":          sameValue,
	"CUDA/memcpy/fail_overstep": sameValue,
	"CUDA/memcpy/notexactdiv":   sameValue,

	"CUDA/misc/fail/miscfail7":                                nullArgument,
	"OpenCL/async_work_group_copy/fail/test17":                nullLocal,
	"OpenCL/async_work_group_copy/fail/test18":                nullLocal,
	"CUDA/misc/fail/miscfail5":                                writesConstant,
	"CUDA/misc/pass/misc3":                                    writesConstant,
	"OpenCL/array_bounds_tests/array_in_array":                outOfBounds,
	"OpenCL/array_bounds_tests/array_in_array_param":          outOfBounds,
	"OpenCL/array_bounds_tests/multi_dim_array_fail_upper":    outOfBounds,
	"OpenCL/array_bounds_tests/negative_index_multi_dim_fail": outOfBounds,
	"OpenCL/array_bounds_tests/realign_simple_fail":           outOfBounds,
	"OpenCL/array_bounds_tests/simple_array_fail_lower":       outOfBounds,
	"OpenCL/array_bounds_tests/simple_array_fail_upper":       outOfBounds,
	"OpenCL/array_bounds_tests/simple_array_fail_var":         outOfBounds,

	"CUDA/misc/fail/miscfail2": "the invariants hold; without inference, GPUVerify lacks one that " +
		"its induction needs",

	"OpenCL/benign_race_tests/fail/writewritearray_adversarial": sameValue,

	"OpenCL/asymmetric_asserts/fail": "the assertions hold; GPUVerify may assume them " +
		"for one thread only and cannot prove it",
	"OpenCL/k-induction/alldifferent-k-too-small": "the invariant holds; GPUVerify uses too few " +
		"steps of induction",
	"OpenCL/sourcelocation_tests/ensures/fail": "the postcondition holds for both calls; " +
		"GPUVerify checks the function separately",
	"OpenCL/reducedstrengthnonloopbug": "the kernel is empty; the defect is in a " +
		"function that is not called",
}

// acceptedAllTheSame lists kernels of GPUVerify's suite that its tools reject, with the reason why
// a proof is correct.
var acceptedAllTheSame = map[string]string{
	"CUDA/function_pointers/unknown_function": "cos has a body here, so both possible callees are " +
		"known, and neither accesses memory",
	"CUDA/memcpy/unhandled_varlen": "a copy of variable length is a loop here; " +
		sameValue,
	"CUDA/memset/unhandled_varlen": "a memset of variable length is a loop here; it " +
		"fills a private variable, and each thread writes its own element of out",
	"CUDA/memset/unhandled_varval": "a memset of a variable value is a loop here; it " +
		"fills a private variable, and each thread writes its own element of out",

	"OpenCL/annotation_tests/invariant_specification_mistakes/short_circuit_and":     branchingCondition,
	"OpenCL/annotation_tests/invariant_specification_mistakes/short_circuit_or":      branchingCondition,
	"OpenCL/annotation_tests/invariant_specification_mistakes/short_circuit_ternary": branchingCondition,

	"OpenCL/atomics/equality_fail":               otherOptions,
	"OpenCL/fail_equality_and_adversarial":       otherOptions,
	"OpenCL/checkarrays/fail/arraydoesnotexist1": noSuchArray,
	"OpenCL/checkarrays/fail/arraydoesnotexist2": noSuchArray,

	"OpenCL/function_wide/fail/not_at_end_if": "the kernel has no loop for the invariant",
	"OpenCL/function_wide/fail/uses_function": "conditions may call functions here",
	"OpenCL/function_wide/fail/uses_params": "conditions may use parameters here, and this one " +
		"holds: i is even in every iteration",
}

const (
	branchingCondition = "conditions may branch here if they are at the head of the loop; the " +
		"invariants hold"
	otherOptions = "the options conflict, but concern abstractions that heddle does not use"
	noSuchArray  = "the option names an array that the kernel does not have, so no race counts"
)

const (
	sameValue = "threads store the same value, read from the same place of an unwritten array, " +
		"which is tolerated; GPUVerify assumes arbitrary values"
	nullArgument = "the defect is that an argument may be a null pointer; proofs assume that it is " +
		"the address of a buffer"
	nullLocal = "the defect is a null pointer to local memory, whose address 0 is that of an array; " +
		"proofs check null pointers to global memory"
	writesConstant = "the defect is a write to constant memory and not a race; proofs do not check " +
		"those"
	outOfBounds = "the defect is an access outside an array and not a race; proofs do not check " +
		"those here"
)

// reasonFor returns the reason that a list has for a kernel, or "". Keys are compared with the end
// of the directory's path, because the checkout may be anywhere.
func reasonFor(list map[string]string, path string) string {
	dir := filepath.ToSlash(filepath.Dir(path))
	for name, why := range list {
		if strings.HasSuffix(dir, "/"+name) || dir == name {
			return why
		}
	}
	return ""
}
