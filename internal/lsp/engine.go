package lsp

import (
	"context"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// Mode selects what an Engine does with a document. Its value is the name of the heddle command.
type Mode string

const (
	Quick Mode = "run"    // one emulated run: while a document is being edited
	Full  Mode = "check"  // runs and a proof, as heddle check: after open and save
	Proof Mode = "verify" // a proof for all inputs
	Sync  Mode = "sync"   // repair by placing barriers
	Fix   Mode = "fix"    // repair by barriers and changes to the control flow
)

// Request asks an Engine to examine a document.
type Request struct {
	Path     string       // file name of the document
	Language string       // of the document, as the client names it (3.17, languageId)
	Text     []byte       // current text, which may differ from the saved file
	Mode     Mode         // what to do
	Kernel   string       // demangled name; empty: all kernels
	Progress func(string) // receives a description of each step, for people; not nil
}

// Report is the result of examining a document.
type Report struct {
	Files    *source.Set       // resolves the positions below
	Findings []diag.Diagnostic // suppressed ones included
	Verdicts []diag.Verdict    // the span of each is the name of its kernel
}

// Engine examines documents. It is called from several goroutines.
type Engine interface {
	// Check examines one document. Problems of the document are findings; an error means that it
	// could not be examined at all. Check returns early when ctx is done.
	Check(ctx context.Context, req Request) (*Report, error)
}

// Barriers is an optional interface of an Engine that explains single barriers.
type Barriers interface {
	// Barrier returns Markdown that says which accesses the barrier at a position separates, or that
	// it is redundant. Line and byte column start at 1. The result is empty if there is no barrier.
	Barrier(ctx context.Context, req Request, line, col int) (string, error)
}

// Repairer is an optional interface of an Engine that repairs kernels.
type Repairer interface {
	// Repair returns repairs of a kernel in mode Sync or Fix, best first, with positions in files,
	// and a note for the user. No repair is not an error; the note then says why. Repair limits
	// its own running time.
	Repair(ctx context.Context, req Request) (files *source.Set, fixes []diag.Fix, note string,
		err error)
}
