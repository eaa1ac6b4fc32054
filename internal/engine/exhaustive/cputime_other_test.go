//go:build !unix

package exhaustive

import "time"

// cpuTime is not measured on systems without getrusage.
func cpuTime() time.Duration { return 0 }
