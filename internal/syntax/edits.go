package syntax

import (
	"heddle/internal/edit"
	"heddle/internal/place"
	"heddle/internal/source"
)

// Barrier returns the statement that is a barrier of the block for the given memory: __syncthreads() orders all, that of
// OpenCL C what its flags name (OpenCL C 3.0, 6.15.8).
func (u *Unit) Barrier(shared, global bool) string {
	switch {
	case !u.OpenCL:
		return "__syncthreads();"
	case shared && global:
		return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
	case global:
		return "barrier(CLK_GLOBAL_MEM_FENCE);"
	}
	return "barrier(CLK_LOCAL_MEM_FENCE);"
}

// FileEdits are the edits of one file.
type FileEdits struct {
	File  *source.File
	Edits []edit.Edit
}

// Edits returns what turns the sources into those of placements: a barrier after each label that is in one, written as
// text says (see Barrier), and no barrier where a label of a Barrier is in none. Functions without a placement stay as
// they are. It fails for a Closed label.
func (u *Unit) Edits(placements map[*Func]place.Placement, text func(*Func, place.Label) string) ([]FileEdits, error) {
	return nil, nil
}
