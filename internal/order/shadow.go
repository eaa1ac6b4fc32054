package order

// Shadow says which bytes of memory hold a value that something has stored. The zero value is
// memory that nothing has written.
type Shadow struct {
	pages map[uint64]*shadowPage // by number; a page without an entry is not written
}

// shadowPage has a bit for each byte.
type shadowPage [pageBytes / 64]uint64

// written is the page that is written whole. It is shared and never changed.
var written = func() *shadowPage {
	p := new(shadowPage)
	setBits(p[:], 0, pageBytes)
	return p
}()

// Write notes that a range is written.
func (s *Shadow) Write(r Range) {
	if s.pages == nil {
		s.pages = make(map[uint64]*shadowPage)
	}
	for at := r.From; at < r.To; {
		number := at / pageBytes
		end := min(r.To, (number+1)*pageBytes)
		p := s.pages[number]
		switch {
		case p == written:
		case end-at == pageBytes:
			s.pages[number] = written
		default:
			if p == nil {
				p = new(shadowPage)
				s.pages[number] = p
			}
			setBits(p[:], at%pageBytes, end-at)
			if *p == *written {
				s.pages[number] = written
			}
		}
		at = end
	}
}

// Missing returns the first run of bytes of a range that are not written, and how many such bytes
// there are in all.
func (s *Shadow) Missing(r Range) (first Range, bytes uint64) {
	for at := r.From; at < r.To; {
		number := at / pageBytes
		end := min(r.To, (number+1)*pageBytes)
		p := s.pages[number]
		if p == written {
			at = end
			continue
		}
		for ; at < end; at++ {
			if b := at % pageBytes; p != nil && p[b/64]>>(b%64)&1 != 0 {
				continue
			}
			bytes++
			if first.To == 0 {
				first = Range{at, at + 1}
			} else if first.To == at {
				first.To++
			}
		}
	}
	return first, bytes
}

// Forget notes that memory no longer exists, or holds no value again.
func (s *Shadow) Forget(r Range) {
	for at := r.From; at < r.To; {
		number := at / pageBytes
		end := min(r.To, (number+1)*pageBytes)
		switch p := s.pages[number]; {
		case p == nil:
		case end-at == pageBytes:
			delete(s.pages, number)
		default:
			q := *p
			for b := at % pageBytes; b < end-number*pageBytes; b++ {
				q[b/64] &^= 1 << (b % 64)
			}
			s.pages[number] = &q
		}
		at = end
	}
}
