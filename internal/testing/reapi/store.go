package reapi

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
)

// Store is the storage of a server: blobs by the digest under which they were stored, and results
// of actions. It survives the server, as a disk does. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	blobs   map[string][]byte
	results map[string]*repb.ActionResult
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{blobs: map[string][]byte{}, results: map[string]*repb.ActionResult{}}
}

func (s *Store) get(hash string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[hash]
	return b, ok
}

// put stores a blob, unless it has one of that name: so a damaged blob stays, as on servers that
// do not verify what they have.
func (s *Store) put(data []byte) *repb.Digest {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.blobs[hash]; !ok {
		s.blobs[hash] = data
	}
	return &repb.Digest{Hash: hash, SizeBytes: int64(len(data))}
}

func (s *Store) result(action *repb.Digest) *repb.ActionResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results[action.GetHash()]
}

func (s *Store) keep(action *repb.Digest, r *repb.ActionResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[action.GetHash()] = r
}

// Results returns the number of results in the action cache.
func (s *Store) Results() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.results)
}

// Outputs returns the stored bytes of the first output of each action, by action.
func (s *Store) Outputs() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for action, r := range s.results {
		for _, f := range r.OutputFiles {
			out[action] = string(s.blobs[f.Digest.Hash])
		}
	}
	return out
}

// Truncate cuts every n-th output in the store to half its size, under its old name, and returns
// how many it has cut.
func (s *Store) Truncate(n int) int {
	return s.damage(n, func(b []byte) []byte { return b[:len(b)/2] })
}

// Lose removes every n-th output from the store, and leaves the results that name it.
func (s *Store) Lose(n int) int { return s.damage(n, func([]byte) []byte { return nil }) }

// damage replaces every n-th output by what change returns, or removes it if that is nil.
func (s *Store) damage(n int, change func([]byte) []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count, done := 0, 0
	for _, r := range s.results {
		for _, f := range r.OutputFiles {
			old, ok := s.blobs[f.Digest.Hash]
			if count++; !ok || count%n != 0 {
				continue
			}
			done++
			if b := change(old); b != nil {
				s.blobs[f.Digest.Hash] = b
			} else {
				delete(s.blobs, f.Digest.Hash)
			}
		}
	}
	return done
}

// Swap gives two actions the results of each other. It returns false if there are no two.
func (s *Store) Swap() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.results {
		names = append(names, name)
	}
	if len(names) < 2 {
		return false
	}
	a, b := names[0], names[1]
	s.results[a], s.results[b] = s.results[b], s.results[a]
	return true
}

// Clear removes all blobs and results: a server that was restarted with an empty disk.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.blobs)
	clear(s.results)
}

// message reads a stored message.
func (s *Store) message(d *repb.Digest, m proto.Message) bool {
	b, ok := s.get(d.GetHash())
	return ok && proto.Unmarshal(b, m) == nil
}
