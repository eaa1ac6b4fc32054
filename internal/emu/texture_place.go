package emu

import "math"

// Which texels a fetch reads, and their weights, as the CUDA C++ Programming Guide defines it
// ("Texture Fetching"). With N texels in a dimension and a coordinate x, which is multiplied by N
// if it is normalized:
//
//   - without filtering the result is T[floor(x)];
//   - with linear filtering it is (1-a) T[i] + a T[i+1] in each dimension, where i is
//     floor(x - 0.5) and a the fraction of x - 0.5, "stored in 9-bit fixed point format with 8 bits
//     of fractional value (so 1.0 is exactly represented)".
//
// The guide leaves open how a is rounded, and in which precision the sum is computed: here to the
// nearest multiple of 1/256, and exactly, with one rounding at the end. A texel with weight 0 is not
// read: at the middle of a texel the result is that texel, whatever its neighbours hold.

// farthest bounds coordinates, so that their floor is an integer of 64 bits.
const farthest = 1 << 40

// place computes the texels of one lane and their weights, whose sum is weight. They are taps from
// first on.
func (x *exec) place(op *texOp, t *Texture, l, first int, weight float64) {
	s, coords := x.sampler, op.coords
	layer := uint64(0)
	if op.layer {
		layer = t.layer(uint32(x.src(&coords[0])[l]))
		coords = coords[1:]
	}
	var at [3]float64
	for i := range coords {
		v := x.src(&coords[i])[l]
		if op.whole {
			at[i] = float64(int32(v))
			continue
		}
		at[i] = float64(math.Float32frombits(uint32(v)))
		if at[i] != at[i] {
			at[i] = 0
		}
	}
	n := len(coords)
	if op.cube {
		var face uint64
		at[0], at[1], face = faceOf(at)
		layer, n = layer+face, 2
	}
	base := t.Addr + layer*t.Slice
	if op.gather < 0 && (!t.Filter || op.whole) {
		s.taps = max(s.taps, first+1)
		var texel [3]int64
		inside := true
		for i := range n {
			var ok bool
			texel[i], ok = t.nearest(at[i], i, op.whole)
			inside = inside && ok
		}
		s.put(first, l, t.address(base, texel), inside, weight)
		return
	}
	x.corners(op, t, l, first, base, at, n, weight)
}

// corners adds the texels of a filtered fetch or of a gather in n dimensions.
func (x *exec) corners(op *texOp, t *Texture, l, first int, base uint64, at [3]float64, n int,
	total float64) {
	s, taps := x.sampler, 1<<n
	s.taps = max(s.taps, first+taps)
	// Of each dimension, the offset of the lower and of the upper texel, and their weights.
	var off [3][2]uint64
	var ok [3][2]bool
	var weights [3][2]float64
	lower, upper := 0, 0 // dimensions of which the lower or the upper texel has a weight
	step := [3]uint64{t.texelBytes(), t.Pitch, t.Slice}
	for i := range n {
		low, part := t.between(at[i], i)
		weights[i] = [2]float64{1 - part, part}
		for up := range 2 {
			if weights[i][up] == 0 && op.gather < 0 {
				continue
			}
			var texel int64
			texel, ok[i][up] = t.index(low+int64(up), i)
			off[i][up] = uint64(texel) * step[i]
			if up == 1 {
				upper |= 1 << i
			} else {
				lower |= 1 << i
			}
		}
	}
	for k := range taps {
		corner := k
		if op.gather >= 0 { // from the lower left one counterclockwise
			corner = [4]int{2, 3, 1, 0}[k]
		}
		if corner&^upper != 0 || (taps-1)&^corner&^lower != 0 {
			continue // its weight is 0
		}
		addr, weight, inside := base, total, true
		for i := range n {
			up := corner >> i & 1
			addr += off[i][up]
			inside = inside && ok[i][up]
			weight *= weights[i][up]
		}
		s.put(first+k, l, addr, inside, weight)
	}
}

// put records a texel of a lane, of tap k.
func (s *sampler) put(k, l int, addr uint64, inside bool, weight float64) {
	s.addr[k][l], s.weight[k][l] = addr, weight
	s.used[k] |= 1 << l
	if inside {
		s.inside[k] |= 1 << l
	}
}

// address returns the address of a texel.
func (t *Texture) address(base uint64, at [3]int64) uint64 {
	return base + uint64(at[0])*t.texelBytes() + uint64(at[1])*t.Pitch + uint64(at[2])*t.Slice
}

// layer returns the number of the first layer that a coordinate selects. Those beyond the last one
// select the last one.
func (t *Texture) layer(i uint32) uint64 {
	if t.Cube {
		return 6 * uint64(min(i, t.Layers/6-1))
	}
	return uint64(min(i, t.Layers-1))
}

// scaled returns coordinate x of a dimension in texels, after the addressing that repeats the
// texture.
func (t *Texture) scaled(x float64, dim int) float64 {
	if !t.Unit && !t.Cube {
		return min(max(x, -farthest), farthest)
	}
	switch t.Address[dim] {
	case Wrap:
		x -= math.Floor(x)
	case Mirror:
		whole := math.Floor(x)
		x -= whole
		if math.Mod(whole, 2) != 0 {
			x = 1 - x
		}
	}
	return min(max(x*float64(t.Size[dim]), -farthest), farthest)
}

// nearest returns the texel of a dimension without filtering; ok is false beyond the border.
func (t *Texture) nearest(x float64, dim int, whole bool) (i int64, ok bool) {
	if !whole {
		x = math.Floor(t.scaled(x, dim))
	}
	if t.Linear { // a fetch beyond the memory returns zero
		return int64(x), x >= 0 && x < float64(t.Size[dim])
	}
	return t.index(int64(x), dim)
}

// between returns the first of the two texels around a coordinate, and the weight of the second.
func (t *Texture) between(x float64, dim int) (first int64, weight float64) {
	x = t.scaled(x, dim) - 0.5
	low := math.Floor(x)
	return int64(low), math.Floor((x-low)*256+0.5) / 256
}

// index returns the texel that number i of a dimension selects; ok is false beyond the border.
func (t *Texture) index(i int64, dim int) (texel int64, ok bool) {
	n := int64(t.Size[dim])
	mode := t.Address[dim]
	switch {
	case t.Cube: // a face is filtered by itself
		mode = Clamp
	case i >= 0 && i < n:
		return i, true
	case mode == Wrap && t.Unit:
		return ((i % n) + n) % n, true
	case mode == Border:
		return 0, false
	}
	// What mirroring repeats at an edge is the texel at the edge.
	return min(max(i, 0), n-1), true
}

// faceOf returns the face of a cube that a direction points to, and the normalized coordinates in
// it (CUDA C++ Programming Guide, "Cubemap Textures").
func faceOf(v [3]float64) (s, t float64, face uint64) {
	x, y, z := v[0], v[1], v[2]
	ax, ay, az := math.Abs(x), math.Abs(y), math.Abs(z)
	var m float64
	switch {
	case ax >= ay && ax >= az && x >= 0:
		face, m, s, t = 0, ax, -z, -y
	case ax >= ay && ax >= az:
		face, m, s, t = 1, ax, z, -y
	case ay >= az && y >= 0:
		face, m, s, t = 2, ay, x, z
	case ay >= az:
		face, m, s, t = 3, ay, x, -z
	case z >= 0:
		face, m, s, t = 4, az, x, -y
	default:
		face, m, s, t = 5, az, -x, -y
	}
	if m == 0 {
		return 0.5, 0.5, face
	}
	return (s/m + 1) / 2, (t/m + 1) / 2, face
}
