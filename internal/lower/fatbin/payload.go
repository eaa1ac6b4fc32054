package fatbin

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// What may be decompressed. The PTX of the largest libraries is tens of MiB an image.
const (
	maxImage = 256 << 20
	maxTotal = 1 << 30 // of all images of a file
)

// lz4Ratio is the most that LZ4 can expand: each further byte of a length stands for 255.
const lz4Ratio = 255

// Data returns the payload: PTX text without its padding, or the bytes of a cubin.
func (im *Image) Data() ([]byte, error) {
	if im.data != nil {
		return im.data, nil
	}
	data := im.payload
	if im.Compression != None {
		if im.size > maxImage || im.size > uint64(im.file.budget) {
			return nil, im.errorf("%d bytes uncompressed are more than can be read", im.size)
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

func (im *Image) errorf(format string, args ...any) error {
	return fmt.Errorf("image %d: %s", im.Number, fmt.Sprintf(format, args...))
}

func (im *Image) decompress() ([]byte, error) {
	if im.Compression == Zstd {
		return im.unzstd()
	}
	if im.size > lz4Ratio*uint64(len(im.payload)) {
		return nil, fmt.Errorf("%d bytes cannot be the form of %d", len(im.payload), im.size)
	}
	out := make([]byte, im.size)
	n, err := lz4.UncompressBlock(im.payload, out)
	if err != nil {
		return nil, err
	}
	return im.whole(out[:n])
}

// unzstd decompresses in a stream: the ratio of zstd has no bound, so the size that the header states is not
// believed before that many bytes have come.
func (im *Image) unzstd() ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(im.payload), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxImage))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(d, int64(im.size)+1)); err != nil {
		return nil, err
	}
	return im.whole(out.Bytes())
}

// whole checks that as much came out as the header states.
func (im *Image) whole(out []byte) ([]byte, error) {
	if uint64(len(out)) != im.size {
		return nil, fmt.Errorf("%d bytes came out, %d were stated", len(out), im.size)
	}
	return out, nil
}
