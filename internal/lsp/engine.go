package lsp

import (
	"context"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// Mode is how much is done for a document.
type Mode string

const (
	Quick Mode = "run"    // one run: while it is edited
	Full  Mode = "check"  // what heddle check does
	Proof Mode = "verify" // for all inputs
	Sync  Mode = "sync"   // barriers, placed by a Repairer
	Fix   Mode = "fix"    // and changes of the control flow
)

// Request is what an Engine is asked about.
type Request struct {
	Path     string
	Text     []byte // of the document, which may not be saved
	Mode     Mode
	Kernel   string       // by its demangled name; empty: all
	Progress func(string) // what is being done, for people
}

// Report is what an Engine found.
type Report struct {
	Files    *source.Set
	Findings []diag.Diagnostic
	Verdicts []diag.Verdict // the span of each is its kernel
}

// Engine examines documents. It is called from several goroutines.
type Engine interface {
	// Check examines one document. What is wrong with the document is a finding; an error is for what keeps it from
	// being examined at all.
	Check(ctx context.Context, req Request) (*Report, error)
}

// Barriers is an Engine that knows what single barriers are for.
type Barriers interface {
	// Barrier says in Markdown what the barrier at a position (line and byte column from 1) separates, or that it is
	// redundant; empty if there is no barrier.
	Barrier(ctx context.Context, req Request, line, col int) (string, error)
}

// Repairer is an Engine that repairs kernels.
type Repairer interface {
	// Repair returns how to repair a kernel by what the mode says, Sync or Fix, best first, and what there is to say
	// about it. It bounds its own time.
	Repair(ctx context.Context, req Request) (files *source.Set, fixes []diag.Fix, note string, err error)
}
