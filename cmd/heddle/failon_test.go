package main

import (
	"slices"
	"testing"

	"heddle/internal/config"
	"heddle/internal/driver"
)

// heddle.toml and the flag accept the same words.
func TestFailOnWords(t *testing.T) {
	if !slices.Equal(config.FailOns, driver.FailOnWords) {
		t.Errorf("heddle.toml accepts %v, --fail-on %v", config.FailOns, driver.FailOnWords)
	}
}
