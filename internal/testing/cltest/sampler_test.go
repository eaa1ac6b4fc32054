package cltest

import (
	"fmt"
	"math"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lower"
)

// Reads of images through samplers, against the formulas of the OpenCL specification 1.2, section
// 8.2, written down a second time.

// The constants of samplers as base.h has them.
const (
	normalized     = 1
	clampToEdge    = 2
	clampToBorder  = 4
	repeat         = 6
	mirroredRepeat = 8
	nearest        = 0x10
	linear         = 0x20
)

// taken is a pixel of one dimension that a read takes, with its weight. One at -1 is the border.
type taken struct {
	at     int
	weight float64
}

// along returns the pixels of a dimension with n of them around the coordinate c.
func along(c float64, n, sampler int) []taken {
	size := float64(n)
	mode, u := sampler&14, c
	if sampler&normalized != 0 {
		switch mode {
		case repeat:
			u = (c - math.Floor(c)) * size
		case mirroredRepeat:
			u = math.Abs(c-2*math.RoundToEven(0.5*c)) * size
		default:
			u = c * size
		}
	}
	address := func(i int) int {
		switch mode {
		case repeat: // i0 + w below 0, i1 - w beyond the last one
			return ((i % n) + n) % n
		case clampToBorder:
			if i < 0 || i >= n {
				return -1
			}
			return i
		}
		return max(0, min(i, n-1))
	}
	if sampler&linear == 0 {
		return []taken{{address(int(math.Floor(u))), 1}}
	}
	low := math.Floor(u - 0.5)
	a := u - 0.5 - low
	return []taken{{address(int(low)), 1 - a}, {address(int(low) + 1), a}}
}

func samplers() (list []int) {
	for _, filter := range []int{nearest, linear} {
		for _, mode := range []int{clampToEdge, clampToBorder} {
			list = append(list, filter|mode, filter|mode|normalized)
		}
		list = append(list, filter|repeat|normalized, filter|mirroredRepeat|normalized)
	}
	return list
}

// TestSamplers reads an image of 8 by 4 pixels at places within it and around it, in multiples of
// 1/16 of a pixel, so that all numbers are exact in float.
func TestSamplers(t *testing.T) {
	const width, height = 8, 4
	image := make([]byte, 16*(width+(height-1)<<15))
	pixel := func(x, y int) float64 {
		if x < 0 || y < 0 {
			return 0
		}
		return float64((x*7+y*31)%64 - 20)
	}
	for y := range height {
		for x := range width {
			copy(image[16*(x+y<<15):], encode([]float32{float32(pixel(x, y)), 1, 2, 3}))
		}
	}
	source := func(param, variable string) string {
		return fmt.Sprintf(`%s
kernel void k(read_only image2d_t im, %sglobal const float2 *at, global float *out) {
  int i = get_local_linear_id();
  for (int k = 0; k < 8; k++) out[i + 32 * k] = read_imagef(im, s, at[i + 32 * k]).x;
}`, variable, param)
	}
	argument := compile(t, source("sampler_t s, ", ""), lower.Options{})
	for _, sampler := range samplers() {
		scale := [2]float64{1, 1}
		if sampler&normalized != 0 {
			scale = [2]float64{width, height}
		}
		at := make([]float32, 2*256)
		for i := range 256 {
			at[2*i] = float32((float64(i*5%256)/16 - 4) / scale[0])
			at[2*i+1] = float32((float64(i*11%128)/16 - 2) / scale[1])
		}
		constant := compile(t, source("", fmt.Sprintf("constant sampler_t s = %d;", sampler)),
			lower.Options{})
		args := map[string][]byte{"im": image, "at": encode(at)}
		group := event.Dim3{X: width, Y: height, Z: 1}
		got := make([]float32, 256)
		decode(t, runGroup(t, constant, "k", group, args, "out", 4*len(got)), got)
		args["s"] = encode([]uint32{uint32(sampler)})
		again := make([]float32, 256)
		decode(t, runGroup(t, argument, "k", group, args, "out", 4*len(got)), again)
		for i := range 256 {
			var want float64
			for _, x := range along(float64(at[2*i]), width, sampler) {
				for _, y := range along(float64(at[2*i+1]), height, sampler) {
					v := pixel(x.at, y.at)
					if x.at < 0 || y.at < 0 {
						v = 0
					}
					want += v * x.weight * y.weight
				}
			}
			if float64(got[i]) != want || got[i] != again[i] {
				t.Errorf("sampler %#x at (%v, %v): %v, and %v by an argument, want %v", sampler,
					at[2*i], at[2*i+1], got[i], again[i], want)
			}
		}
	}
}

// TestSamplerForms reads images of other kinds. The pixels of the first image are 0, 4, 8 and so on
// in the direction of x.
func TestSamplerForms(t *testing.T) {
	m := compile(t, `
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
kernel void k(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_array_t c,
              read_only image3d_t d, read_only image2d_depth_t e, read_only image2d_t f, global float *out) {
  if (get_local_id(0)) return;
  out[0] = read_imagef(a, edge, 1.0f).x;                         // between 0 and 4
  out[1] = read_imagef(a, edge, -3.0f).x;                        // the first one
  out[2] = read_imagef(a, edge, 50.0f).x;                        // the last of eight
  out[3] = read_imagef(a, border, 9.0f).w;                       // four channels: no color
  out[4] = read_imagef(a, border, 3).x;                          // integer coordinates
  out[5] = read_imagef(a, border, -1).x + read_imagef(a, border, 8).x;
  out[6] = read_imagef(b, edge, (float2)(1.25f, 7.0f)).x;        // there is one layer
  out[7] = read_imagef(c, edge, (float4)(2.0f, 0.5f, 9.0f, 0)).x;
  out[8] = read_imagef(d, edge, (float4)(1.75f, 0.5f, 0.5f, 0)).x;
  out[9] = read_imagef(e, edge, (float2)(1.0f, 0.5f));
  out[10] = read_imagei(f, edge, (float2)(2.9f, 0.1f)).x;        // integers are not filtered
}`, lower.Options{})
	row := make([]byte, 16*8)
	whole := make([]byte, 16*8)
	for x := range 8 {
		copy(row[16*x:], encode([]float32{float32(4 * x), 1, 1, 1}))
		copy(whole[16*x:], encode([]int32{int32(4 * x), 1, 1, 1}))
	}
	args := map[string][]byte{"a": row, "b": row, "c": row, "d": row, "e": row, "f": whole}
	got := make([]float32, 11)
	decode(t, run(t, m, "k", 8, args, "out", 4*len(got)), got)
	for i, want := range []float32{2, 0, 28, 0, 12, 0, 3, 6, 5, 2, 8} {
		if got[i] != want {
			t.Errorf("value %d is %v, want %v", i, got[i], want)
		}
	}
}
