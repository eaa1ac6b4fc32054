package check

import (
	"context"

	"heddle/internal/race"
)

// classify is filled in below.
func (t *tracer) classify(ctx context.Context, rep *race.Report, b uint32) {}
