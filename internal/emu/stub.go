package emu

import (
	"context"
	"errors"

	"heddle/internal/event"
)

type program struct{}

func (m *Machine) run(ctx context.Context, opt Options, sink event.Sink) (*Result, error) {
	return nil, errors.New("emu: not built yet")
}
