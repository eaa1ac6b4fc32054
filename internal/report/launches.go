package report

import "heddle/internal/source"

// Stream is a row of the timeline of a program: the launches of one stream.
type Stream struct {
	Name     string // "stream 2"
	Launches []Launch
}

// Launch is a launch in the timeline.
type Launch struct {
	Column  int // its place in the order of the calls of all streams, from 1
	Kernel  string
	Number  uint64 // of the launch of this kernel, from 1
	Place   string // of the call; empty: unknown
	Checked bool   // the detector watched it
	Failed  bool   // it did not reach its end
	Found   bool   // it has findings that no earlier launch had
}

// Class is the style of the launch.
func (l Launch) Class() string {
	switch {
	case l.Found:
		return "bug"
	case l.Failed:
		return "unknown"
	case l.Checked:
		return "clean"
	}
	return "unwatched"
}

// Launches adds the timeline of a program. later is the number of launches that it leaves out.
func (h *HTML) Launches(streams []Stream, later int) {
	h.page.Streams, h.page.Later = streams, later
}

// Files sets the files to which positions refer, if they were not known to New.
func (h *HTML) Files(files *source.Set) { h.files = files }
