package fatbin

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Limits of decompression in bytes. In the largest libraries an image has tens of MiB of PTX.
const (
	maxImage = 256 << 20 // of one image
	maxTotal = 1 << 30   // of all images of a file
)

// maxRatio bounds the expansion of zstd beyond maxFree: bytes after decompression for each byte of
// the file. PTX, even of unrolled loops, shrinks to a hundredth at most.
const (
	maxRatio = 1000
	maxFree  = 16 << 20
)

// lz4Ratio is the maximum expansion of LZ4, where each additional byte of a length means up to 255
// bytes.
const lz4Ratio = 255

// Data returns the payload: PTX text without its padding, or the bytes of a cubin. It fails if the
// payload is invalid or exceeds the limits.
func (im *Image) Data() ([]byte, error) {
	if im.data != nil {
		return im.data, nil
	}
	data := im.payload
	if im.Compression != None {
		if im.size > maxImage || im.size > uint64(im.file.budget) {
			return nil, im.errorf("%d bytes after decompression exceed the limit of 256 MiB per image and "+
				"1 GiB per file", im.size)
		}
		if im.Compression == Zstd && im.size > maxFree && im.size/maxRatio > uint64(len(im.payload)) {
			return nil, im.errorf("%d bytes in the file expand to %d, more than %d times as many",
				len(im.payload), im.size, maxRatio)
		}
		var err error
		if data, err = im.decompress(); err != nil {
			return nil, im.errorf("%s: %v", im.Compression, err)
		}
		im.file.budget -= int64(len(data))
	}
	if im.Kind == PTX {
		data = bytes.TrimRight(data, "\x00")
	}
	im.data = data
	return data, nil
}

// errorf returns an error that names the image.
func (im *Image) errorf(format string, args ...any) error {
	return fmt.Errorf("image %d: %s", im.Number, fmt.Sprintf(format, args...))
}

// decompress returns the decompressed payload.
func (im *Image) decompress() ([]byte, error) {
	if im.Compression == Zstd {
		return im.unzstd()
	}
	if im.size > lz4Ratio*uint64(len(im.payload)) {
		return nil, fmt.Errorf("%d compressed bytes cannot contain %d bytes", len(im.payload), im.size)
	}
	out := make([]byte, im.size)
	n, err := lz4.UncompressBlock(im.payload, out)
	if err != nil {
		return nil, err
	}
	return im.checkSize(out[:n])
}

// unzstd decompresses a stream. The ratio of zstd has no bound, so it does not allocate the size in
// the header before that many bytes exist.
func (im *Image) unzstd() ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(im.payload), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxImage))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(d, int64(im.size)+1)); err != nil {
		return nil, err
	}
	return im.checkSize(out.Bytes())
}

// checkSize checks that the decompressed payload has the size in the header.
func (im *Image) checkSize(out []byte) ([]byte, error) {
	if uint64(len(out)) != im.size {
		return nil, fmt.Errorf("decompression yields %d bytes, but the header says %d", len(out), im.size)
	}
	return out, nil
}
