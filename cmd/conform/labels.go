package main

import (
	"path/filepath"
	"strings"
)

// label is what heddle run must say of one configuration of Barracuda's tests, by the PTX ISA (9.1) and the
// CUDA C++ Programming Guide, for the warps of sm_70 and later.
type label struct {
	file   string
	config string // of the macros, then BLOCKSxTHREADS; "*" stands for any words
	want   string // the verdict
	why    string
	whyNot string // what is wrong with a label of theirs that is another
}

// labels, of which the first that fits counts.
var labels = []label{
	{"atomic_increment", "* 1x3", "clean", "the condition on THREADS is false: no thread does the atomic", ""},
	{"atomic_increment", "* 2x1", "clean", "the condition on THREADS is false: no thread does the atomic", ""},
	{"atomic_increment", "*", "other", "no race, but a 4-byte atomic on an object of 1 byte: out of bounds", ""},

	{"base", "*", "bug", "two threads store to one byte, or load and store, without order (ISA 8.7.1)", ""},
	{"base_with_syncthreads", "* 1x33", "clean", "the two accesses are on both sides of a barrier of their block (ISA 9.7.13.1)", ""},
	{"base_with_syncthreads", "* 2x1", "bug", "a barrier orders nothing between blocks; that both store 0 is no excuse (ISA 8.7.1)", ""},
	{"branch_race", "*", "bug", "one lane stores, another loads, and nothing orders the paths of a branch", ""},

	{"flag_sync_across_blocks", "2x1", "clean", "volatile accesses are relaxed at .sys, and so morally strong (ISA 8.7, 9.7.9.8)", ""},
	{"flag_sync_across_blocks", "ATOMIC*", "clean", "two atomics are morally strong (ISA 8.7)", ""},
	{"flag_sync_across_blocks", "NO_VOLATILE PTX_CA *", "bug", "a weak store and a weak load (ISA 8.7.1)", ""},
	{"flag_sync_across_blocks", "NO_VOLATILE PTX_CG *", "bug", "a weak store and a weak load (ISA 8.7.1)",
		"a cache operator is a hint and makes no access strong (ISA 9.7.9.1): the spin is on a weak load"},

	{"implicit_intra_warp_sync", "*", "bug", "two lanes access one byte without __syncwarp",
		"lanes are not in lock step since sm_70: only program order and synchronization order them (ISA 3.1, 8.7.1)"},

	{"warp_lock", "SHARED* 2x1", "clean", "each block has its own x and one thread", "a block of one thread cannot race on shared memory"},
	{"warp_lock", "* SHARED 2x1", "clean", "each block has its own x and one thread", "a block of one thread cannot race on shared memory"},
	{"warp_lock", "GLOBAL 1x33", "clean", lockOrders, ""},
	{"warp_lock", "GLOBAL 2x1", "clean", lockOrders, ""},
	{"warp_lock", "SHARED 1x33", "clean", lockOrders, ""},
	{"warp_lock", "* NO_VOLATILE *", "clean", lockOrders, noVolatile},
	{"warp_lock", "NO_VOLATILE *", "clean", lockOrders, noVolatile},
	{"warp_lock", "*", "bug", "without a fence on one side, the atomics are relaxed and synchronize nothing (ISA 8.8)", ""},

	{"two_streams", "*", "clean", "one launch of one thread", "the race is between two launches, and heddle looks at one at a time"},
	{"dynamic_parallelism", "*", "failed", "kernels launched by kernels do not compile without the SDK", "not decided: dynamic parallelism is not supported"},
	{"dynamic_parallelism_with_streams", "*", "failed", "kernels launched by kernels do not compile without the SDK", "not decided: dynamic parallelism is not supported"},
}

const (
	lockOrders = "fence and atomic exchange are a release pattern, compare-and-swap and fence an acquire pattern (ISA 8.8)"
	noVolatile = "the lock is accessed by atomics only, for which volatile means nothing"
)

func labelOf(file, config string) *label {
	for i := range labels {
		if l := &labels[i]; l.file == file && matches(l.config, config) {
			return l
		}
	}
	return nil
}

// matches compares with a pattern in which * stands for any text.
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

// exceptions are kernels of GPUVerify's suite that it passes and on which a run of heddle reports a race, by
// the end of their path.
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
	contradictsAxiom = "an __axiom says that there is but one block; axioms have no effect on a run"
	readBeside       = "a read beside unordered writes that do not change the value, which GPUVerify tolerates, is a data race (ISA 8.7.1)"
	differentFlags   = "one work-item's barrier has the flag of local memory, the other's has not: the barrier is a fence of both, each with its own flags (OpenCL C 3.0, 6.15.8)"
)

// provedAllTheSame are kernels of GPUVerify's suite that it does not verify and that a proof of ours is right
// about, by the end of their path: where GPUVerify is incomplete.
var provedAllTheSame = map[string]string{
	"CUDA/loop_unwind":          sameValue,
	"CUDA/memcpy/fail_overstep": sameValue,
	"CUDA/memcpy/notexactdiv":   sameValue,

	"CUDA/memset/null_dst":                                    nullPointer,
	"CUDA/misc/fail/miscfail7":                                nullPointer,
	"OpenCL/null_pointers/atomic_null":                        nullPointer,
	"OpenCL/null_pointers/load_from_null":                     nullPointer,
	"OpenCL/null_pointers/null_pointer_choice":                nullPointer,
	"OpenCL/async_work_group_copy/fail/test16":                nullPointer,
	"OpenCL/async_work_group_copy/fail/test17":                nullPointer,
	"OpenCL/async_work_group_copy/fail/test18":                nullPointer,
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

	"CUDA/misc/fail/miscfail2": "the invariants hold; GPUVerify, told to infer none, lacks one for its induction",

	"OpenCL/benign_race_tests/fail/writewritearray_adversarial": sameValue,

	"OpenCL/asymmetric_asserts/fail":              "the assertions hold; GPUVerify, told to assume them for one thread only, cannot show it",
	"OpenCL/k-induction/alldifferent-k-too-small": "the invariant holds; GPUVerify was told too few steps of induction",
	"OpenCL/sourcelocation_tests/ensures/fail":    "the postcondition holds for the two calls that there are; GPUVerify looks at the function by itself",
	"OpenCL/reducedstrengthnonloopbug":            "the kernel is empty; the defect is in a function that it does not call",
}

// acceptedAllTheSame are kernels of GPUVerify's suite that its tools refuse, and of which a proof of ours is right.
var acceptedAllTheSame = map[string]string{
	"CUDA/function_pointers/unknown_function": "cos has a body here, so that both functions that may be called are known, and neither touches memory",
	"CUDA/memcpy/unhandled_varlen":            "a copy of any length is a loop here; " + sameValue,
	"CUDA/memset/unhandled_varlen":            "a memset of any length is a loop here; it fills a variable of the thread alone, and each thread writes its own element of out",
	"CUDA/memset/unhandled_varval":            "a memset of any value is a loop here; it fills a variable of the thread alone, and each thread writes its own element of out",

	"OpenCL/annotation_tests/invariant_specification_mistakes/short_circuit_and":     branchingCondition,
	"OpenCL/annotation_tests/invariant_specification_mistakes/short_circuit_or":      branchingCondition,
	"OpenCL/annotation_tests/invariant_specification_mistakes/short_circuit_ternary": branchingCondition,

	"OpenCL/atomics/equality_fail":               otherOptions,
	"OpenCL/fail_equality_and_adversarial":       otherOptions,
	"OpenCL/checkarrays/fail/arraydoesnotexist1": noSuchArray,
	"OpenCL/checkarrays/fail/arraydoesnotexist2": noSuchArray,

	"OpenCL/function_wide/fail/not_at_end_if": "the kernel has no loop, of which the invariant would speak",
	"OpenCL/function_wide/fail/uses_function": "a condition may call functions here",
	"OpenCL/function_wide/fail/uses_params":   "the condition may speak of a parameter here, and holds: i is even in every iteration",
}

const (
	branchingCondition = "a condition may branch here, as long as it stands at the head of the loop; the invariants hold"
	otherOptions       = "options for abstractions that proofs here do not have exclude each other"
	noSuchArray        = "the option names an array that the kernel does not have: no race counts"
)

const (
	sameValue      = "every thread stores to an element what it read from an array that nobody writes, at the same place: the same value, which is tolerated; GPUVerify takes what is read to be anything"
	nullPointer    = "the defect is an access by a null pointer, no race: proofs do not look for those"
	writesConstant = "the defect is a write to constant memory, no race: proofs do not look for those"
	outOfBounds    = "the defect is an access beyond an array, no race: not looked for"
)

// reasonFor looks a kernel up in one of these lists.
func reasonFor(list map[string]string, path string) string {
	dir := filepath.ToSlash(filepath.Dir(path))
	for name, why := range list {
		if strings.HasSuffix(dir, "/"+name) || dir == name {
			return why
		}
	}
	return ""
}
