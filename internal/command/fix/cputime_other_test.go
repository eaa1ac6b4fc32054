//go:build !unix

package fix

import "time"

// cpuTime is not measured on systems without getrusage.
func cpuTime() time.Duration { return 0 }
