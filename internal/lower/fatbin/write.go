package fatbin

import "encoding/binary"

// Write returns a fatbin with one image of PTX text for an architecture (80 for sm_80), not
// compressed: what programs load in the place of a fatbin of theirs.
func Write(text []byte, arch int) []byte {
	payload := append(append([]byte(nil), text...), 0) // a C string
	for len(payload)%8 != 0 {
		payload = append(payload, 0)
	}
	le := binary.LittleEndian
	var b []byte
	b = le.AppendUint32(b, magic)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, regionHeader)
	b = le.AppendUint64(b, uint64(imageHeader+len(payload)))
	h := make([]byte, imageHeader)
	le.PutUint16(h[0:], uint16(PTX))
	le.PutUint16(h[2:], 0x101)
	le.PutUint32(h[4:], imageHeader)
	le.PutUint32(h[8:], uint32(len(payload)))
	le.PutUint16(h[24:], 5) // version of the image: what CUDA 11 and 12 write for PTX
	le.PutUint16(h[26:], 8)
	le.PutUint32(h[28:], uint32(arch))
	le.PutUint64(h[40:], 0x11) // 64-bit addresses, for Linux
	return append(append(b, h...), payload...)
}
