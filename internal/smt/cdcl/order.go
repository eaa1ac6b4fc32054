package cdcl

// heap is a priority queue of variables: the most active first, and of equally active ones the one
// with the larger number.
type heap struct {
	score []float64
	items []int32
	index []int32 // by variable: its index in items; -1: not in the heap
}

// grow adds a variable with activity 0. It is not in the heap until push.
func (h *heap) grow() {
	h.score = append(h.score, 0)
	h.index = append(h.index, -1)
}

// before orders two variables. Among equal scores later variables come first: the circuits of
// smt/sat number high bits and late results last, and a search that decides low bits first may
// enumerate every value of a number.
func (h *heap) before(a, b int32) bool {
	return h.score[a] > h.score[b] || h.score[a] == h.score[b] && a > b
}

// push inserts a variable unless it is in the heap. Backtracking pushes every variable that becomes
// unassigned, so many are.
func (h *heap) push(v int) {
	if h.index[v] >= 0 {
		return
	}
	h.items = append(h.items, int32(v))
	h.up(len(h.items) - 1)
}

// pop removes the first variable; -1 if the heap is empty.
func (h *heap) pop() int {
	if len(h.items) == 0 {
		return -1
	}
	v := h.items[0]
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	h.index[v] = -1
	if len(h.items) > 0 {
		h.items[0] = last
		h.down(0)
	}
	return int(v)
}

// up moves the item at i towards the root until its parent is before it. Items are moved into the
// gap and the variable is written once at the end.
func (h *heap) up(i int) {
	v := h.items[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(v, h.items[parent]) {
			break
		}
		h.items[i] = h.items[parent]
		h.index[h.items[i]] = int32(i)
		i = parent
	}
	h.items[i], h.index[v] = v, int32(i)
}

// down moves the item at i towards the leaves until it is before both children.
func (h *heap) down(i int) {
	v := h.items[i]
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if child+1 < len(h.items) && h.before(h.items[child+1], h.items[child]) {
			child++
		}
		if !h.before(h.items[child], v) {
			break
		}
		h.items[i] = h.items[child]
		h.index[h.items[i]] = int32(i)
		i = child
	}
	h.items[i], h.index[v] = v, int32(i)
}

// bump raises the activity of a variable that took part in a conflict. An assigned variable is not
// in the heap; its place is found when it is pushed.
func (h *heap) bump(v int, by float64) {
	h.score[v] += by
	if i := h.index[v]; i >= 0 {
		h.up(int(i))
	}
}

// Activities decay relative to each new bump, whose weight grows; all are rescaled before they
// overflow.
const (
	growth  = 1 / 0.95
	tooMuch = 1e100
)

// activity makes the next bump weigh more and rescales all scores before they overflow.
func (h *heap) activity(next *float64) {
	if *next *= growth; *next < tooMuch {
		return
	}
	for v := range h.score { // the order does not change
		h.score[v] *= 1 / tooMuch
	}
	*next *= 1 / tooMuch
}

// restarts decides when to restart: when recently learned clauses are worse than the average.
type restarts struct {
	recent [recentConflicts]int64
	n      int // entries of recent in use
	at     int
	sum    int64 // of the entries of recent
	all    int64
	count  int64
}

// recentConflicts is the number of conflicts that count as recent.
const recentConflicts = 50

// learned records the value (LBD) of a learned clause: in the ring of recent ones and in the
// average over the whole search.
func (r *restarts) learned(value int) {
	v := int64(value)
	r.all += v
	r.count++
	if r.n == recentConflicts {
		r.sum -= r.recent[r.at]
	} else {
		r.n++
	}
	r.recent[r.at] = v
	r.sum += v
	r.at = (r.at + 1) % recentConflicts
}

// due reports whether to restart: the recent average exceeds 5/4 of the overall one.
func (r *restarts) due() bool {
	if r.n < recentConflicts || r.sum*4*r.count <= 5*r.all*recentConflicts {
		return false
	}
	r.n, r.at, r.sum = 0, 0, 0
	return true
}
