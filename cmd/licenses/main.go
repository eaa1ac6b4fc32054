// Command licenses prints the licences of everything that a binary of heddle contains: heddle's
// own, Go's, and those of each module of which a package is linked on some platform. Releases have
// its output as LICENSES.txt.
//
//	go run ./cmd/licenses > LICENSES.txt
package main

import (
	"fmt"
	"os"
)

// main exits with 1 if a licence is missing.
func main() {
	if err := printAll(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}
