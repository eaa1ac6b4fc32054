//go:build !race

package long

const underRace = false
