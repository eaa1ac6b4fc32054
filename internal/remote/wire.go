package remote

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of the Remote Execution API are written and read by hand, field by field: those that
// a client needs have a few fields each, and the generated code for all of them registers several
// hundred types when the program starts.

// writer builds one message. Fields with the default value of their type are left out, as proto3
// does; for what a digest covers, fields are written in ascending order.
type writer []byte

func (w *writer) uint(field protowire.Number, v uint64) {
	if v != 0 {
		*w = protowire.AppendTag(*w, field, protowire.VarintType)
		*w = protowire.AppendVarint(*w, v)
	}
}

func (w *writer) bool(field protowire.Number, v bool) { w.uint(field, protowire.EncodeBool(v)) }

func (w *writer) text(field protowire.Number, v string) {
	if v != "" {
		w.each(field, v)
	}
}

// each writes one element of a repeated field of texts, which may be empty.
func (w *writer) each(field protowire.Number, v string) {
	*w = protowire.AppendTag(*w, field, protowire.BytesType)
	*w = protowire.AppendString(*w, v)
}

func (w *writer) bytes(field protowire.Number, v []byte) {
	if len(v) > 0 {
		w.message(field, v)
	}
}

// message writes an embedded message, which may be empty.
func (w *writer) message(field protowire.Number, v []byte) {
	*w = protowire.AppendTag(*w, field, protowire.BytesType)
	*w = protowire.AppendBytes(*w, v)
}

// value is the value of one field: n for numbers, b for texts, bytes and messages.
type value struct {
	n uint64
	b []byte
}

// read passes each field of a message to field. Unknown fields are passed, too: newer servers have
// more. Fields of other wire types than numbers and bytes are left out.
func read(message []byte, field func(protowire.Number, value) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return malformed(n)
		}
		message = message[n:]
		var v value
		switch kind {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			v.b, n = protowire.ConsumeBytes(message)
		default:
			if n = protowire.ConsumeFieldValue(number, kind, message); n >= 0 {
				message = message[n:]
				continue
			}
		}
		if n < 0 {
			return malformed(n)
		}
		message = message[n:]
		if err := field(number, v); err != nil {
			return err
		}
	}
	return nil
}

func malformed(code int) error {
	return fmt.Errorf("the server sent a malformed message: %w", protowire.ParseError(code))
}
