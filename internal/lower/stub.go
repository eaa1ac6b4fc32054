package lower

import (
	"context"
	"errors"
)

func lowerFile(ctx context.Context, name string, opt Options) (*Result, error) {
	return nil, errors.New("lower: not built yet")
}
