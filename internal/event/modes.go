package event

import "fmt"

// WarpModel says how the lanes of a warp are scheduled against each other, and how they are
// ordered.
type WarpModel uint8

const (
	// Independent is sm_70 and later: every path of a divergent warp makes progress, and only program
	// order and explicit synchronization order its lanes.
	Independent WarpModel = iota
	// Lockstep is the SIMT stack: one path of a branch runs to reconvergence, then the other. Lanes
	// are ordered by the endi, if, else and fi rules of Barracuda (section 3.3.1).
	Lockstep
)

var warpModels = [...]string{"independent", "lockstep"}

// String is the word that ParseWarpModel reads.
func (m WarpModel) String() string { return warpModels[m] }

// ParseWarpModel reads the name of a model; the empty one is Independent.
func ParseWarpModel(name string) (WarpModel, error) {
	for i, word := range warpModels {
		if name == word || name == "" {
			return WarpModel(i), nil
		}
	}
	return 0, fmt.Errorf("warp model %q: expected independent or lockstep", name)
}

// Benign says which conflicting writes of the same value are tolerated.
type Benign uint8

const (
	// BenignWarp tolerates those of lanes of one warp by one instruction, as Barracuda does.
	BenignWarp Benign = iota
	// BenignAll tolerates those of any threads, as GPUVerify does.
	BenignAll
	// BenignNone tolerates none.
	BenignNone
)

var benigns = [...]string{"warp", "all", "none"}

// String is the word that ParseBenign reads.
func (b Benign) String() string { return benigns[b] }

// ParseBenign reads what is tolerated; the empty word is BenignWarp.
func ParseBenign(name string) (Benign, error) {
	for i, word := range benigns {
		if name == word || name == "" {
			return Benign(i), nil
		}
	}
	return 0, fmt.Errorf("benign %q: expected warp, all or none", name)
}
