// Package examples holds the examples that heddle demo shows without a checkout. The directory has
// many more.
package examples

import "embed"

// Tour has reduce.cu, a right kernel, and reduce_racy.cu, the same without a barrier.
//
//go:embed reduce.cu reduce_racy.cu
var Tour embed.FS
