package isa

import "fmt"

// DecodeError says which modifier of an instruction is wrong.
type DecodeError struct {
	Opcode string
	Mod    string // the offending modifier; empty if the opcode itself is unknown or something is missing
	Msg    string
}

func (e *DecodeError) Error() string {
	if e.Mod == "" {
		return fmt.Sprintf("%s: %s", e.Opcode, e.Msg)
	}
	return fmt.Sprintf("%s: modifier .%s: %s", e.Opcode, e.Mod, e.Msg)
}
