package main

import (
	"fmt"

	"heddle/internal/lazyregexp"
)

// What fences, atomic operations and warp barriers order, for hovers. The texts follow the CUDA C++
// Programming Guide ("Memory Fence Functions", "Atomic Functions", "Synchronization Functions",
// "Warp Vote Functions") and the PTX ISA, 8.5 and 8.7.

// fenceScopes are the threads that a fence, or an atomic operation with the same suffix, reaches.
var fenceScopes = map[string]string{
	"_block": "its block", "": "the GPU", "_system": "the GPU, other GPUs and the host",
}

// The names of operations with a scope, and of those of one warp.
var (
	fenceWord  = lazyregexp.New(`^__threadfence(_block|_system)?$`)
	atomicWord = lazyregexp.New(`^atomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(_block|_system)?$`)
	warpWord   = lazyregexp.New(`^__(?:shfl(?:_up|_down|_xor)?|any|all|ballot|uni|match_any|match_all)_sync$`)
)

// operationText describes in Markdown what the operation with a name orders; empty for other names.
func operationText(word string) string {
	if m := fenceWord.FindStringSubmatch(word); m != nil {
		return fmt.Sprintf("**fence**: for the threads of %s, the writes of this thread before it come before "+
			"its writes after it. It waits for no thread: another thread that reads a flag needs a fence of its "+
			"own between the flag and the data, and the flag must be atomic or volatile.", fenceScopes[m[1]])
	}
	if m := atomicWord.FindStringSubmatch(word); m != nil {
		return fmt.Sprintf("**atomic, relaxed**: one read and write that no atomic operation of %s can come "+
			"between. It orders no other access: data that it protects needs a fence, and a plain access to the "+
			"same word races with it.", fenceScopes[m[1]])
	}
	switch {
	case word == "__syncwarp":
		return "**warp barrier**: waits for the lanes in its mask (default: all 32), and orders their accesses " +
			"before it with those after it. Each lane in the mask must reach it."
	case warpWord.MatchString(word):
		return "**warp operation**: waits for the lanes in its mask, each of which must reach it, and exchanges " +
			"registers. It orders no access to memory: use `__syncwarp()` for that."
	}
	return ""
}
