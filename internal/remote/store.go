package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/internal/remote/rpc"
)

const api = "/build.bazel.remote.execution.v2."

// batchBytes bounds the blobs of one batch, so that a message stays below the 4 MiB that gRPC
// servers accept by default. A larger blob is streamed, in pieces of chunkBytes.
const (
	batchBytes = 3 << 20
	chunkBytes = 1 << 20
)

// attemptTime bounds one attempt of a call that moves little data. A blob may take longer.
const (
	attemptTime = 30 * time.Second
	blobTime    = 5 * time.Minute
)

// Delays between attempts: doubled each time, with half of it random, so that the clients of a
// server that restarts do not return all at once.
const (
	firstDelay = 50 * time.Millisecond
	mostDelay  = 3 * time.Second
)

// store is the client of one server's storage and caches: ContentAddressableStorage, ByteStream,
// ActionCache and Capabilities.
type store struct {
	conn     *rpc.Conn
	instance string
	patience time.Duration // for which a server that does not answer is asked again
	batch    int64         // bytes of one batch

	mu      sync.Mutex
	present map[digest]bool          // blobs that the server had in this run
	sending map[digest]chan struct{} // blobs that are being sent; closed at the end
}

// temporary reports whether another attempt may succeed.
func temporary(err error) bool {
	var status *rpc.Error
	if !errors.As(err, &status) || errors.Is(err, errMissing) {
		return false
	}
	switch rpc.CodeOf(err) {
	case rpc.Unavailable, rpc.ResourceExhausted, rpc.Aborted, rpc.Internal, rpc.DeadlineExceeded,
		rpc.Unknown:
		return true
	}
	return false
}

// retry calls f until it succeeds, fails for good, or has failed for s.patience. Each attempt has
// its own deadline.
func (s *store) retry(ctx context.Context, attempt time.Duration, f func(context.Context) error) error {
	return s.retrySince(ctx, attempt, new(time.Time), f)
}

// retrySince is retry for a call that takes long. since is when calls began to fail, which f sets to
// zero when the server answers. A call that had gone well for an hour is not one that has failed for
// an hour.
func (s *store) retrySince(ctx context.Context, attempt time.Duration, since *time.Time,
	f func(context.Context) error) error {
	delay := firstDelay
	for {
		limited, cancel := context.WithTimeout(ctx, attempt)
		err := f(limited)
		cancel()
		if since.IsZero() {
			*since = time.Now()
			delay = firstDelay
		}
		if err == nil || ctx.Err() != nil || !temporary(err) || time.Since(*since) > s.patience {
			return err
		}
		if !pause(ctx, delay) {
			return err
		}
		delay = min(2*delay, mostDelay)
	}
}

// pause waits for about d. It returns false if the context ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d/2 + mathrand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// call performs a call with one answer, with attempts.
func (s *store) call(ctx context.Context, method string, request []byte) (answer []byte, err error) {
	err = s.retry(ctx, attemptTime, func(ctx context.Context) (err error) {
		answer, err = s.conn.Call(ctx, method, request)
		return err
	})
	return answer, err
}

// capabilities asks what the server offers.
func (s *store) capabilities(ctx context.Context) (capabilities, error) {
	var w writer
	w.text(1, s.instance)
	answer, err := s.call(ctx, api+"Capabilities/GetCapabilities", w)
	if err != nil {
		return capabilities{}, err
	}
	return readCapabilities(answer)
}

// upload brings the blobs to the server that it lacks.
func (s *store) upload(ctx context.Context, blobs map[digest]Blob) error {
	var ask writer
	ask.text(1, s.instance)
	unknown := 0
	s.mu.Lock()
	for d := range blobs {
		if !s.present[d] {
			ask.message(2, d.marshal())
			unknown++
		}
	}
	s.mu.Unlock()
	if unknown == 0 {
		return nil
	}
	answer, err := s.call(ctx, api+"ContentAddressableStorage/FindMissingBlobs", ask)
	if err != nil {
		return err
	}
	var missing []digest
	err = read(answer, func(field protowire.Number, v value) error {
		if field != 2 {
			return nil
		}
		d, err := readDigest(v.b)
		if _, ours := blobs[d]; ours {
			missing = append(missing, d)
		}
		return err
	})
	if err != nil {
		return err
	}
	for len(missing) > 0 {
		if missing, err = s.share(ctx, blobs, missing); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for d := range blobs {
		s.present[d] = true
	}
	return nil
}

// share sends the blobs that no other call is sending, and waits for the others: the first actions
// of a run all need the program. It returns those that the other calls have failed to send.
func (s *store) share(ctx context.Context, blobs map[digest]Blob, list []digest) ([]digest, error) {
	others := map[digest]chan struct{}{}
	var own []digest
	done := make(chan struct{})
	s.mu.Lock()
	for _, d := range list {
		if other := s.sending[d]; other != nil {
			others[d] = other
			continue
		}
		s.sending[d] = done
		own = append(own, d)
	}
	s.mu.Unlock()
	err := s.send(ctx, blobs, own)
	s.mu.Lock()
	for _, d := range own {
		delete(s.sending, d)
		s.present[d] = s.present[d] || err == nil
	}
	s.mu.Unlock()
	close(done)
	if err != nil {
		return nil, err
	}
	var left []digest
	for d, other := range others {
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
		if !s.present[d] {
			left = append(left, d)
		}
		s.mu.Unlock()
	}
	return left, nil
}

// forget makes the next upload ask for all blobs again: the server has lost some.
func (s *store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.present)
}

// send uploads blobs, small ones in batches.
func (s *store) send(ctx context.Context, blobs map[digest]Blob, list []digest) error {
	var batch writer
	inBatch, size := 0, int64(0)
	flush := func() error {
		if inBatch == 0 {
			return nil
		}
		request := batch
		batch, inBatch, size = nil, 0, 0
		return s.retry(ctx, attemptTime, func(ctx context.Context) error {
			answer, err := s.conn.Call(ctx, api+"ContentAddressableStorage/BatchUpdateBlobs", request)
			if err != nil {
				return err
			}
			return statuses(answer, 2)
		})
	}
	for _, d := range list {
		blob := blobs[d]
		if d.size > s.batch {
			if err := s.stream(ctx, d, blob); err != nil {
				return err
			}
			continue
		}
		data, err := blob.bytes()
		if err != nil {
			return err
		}
		if size+d.size > s.batch {
			if err := flush(); err != nil {
				return err
			}
		}
		if inBatch == 0 {
			batch.text(1, s.instance)
		}
		var one writer
		one.message(1, d.marshal())
		one.bytes(2, data)
		batch.message(2, one)
		inBatch, size = inBatch+1, size+d.size
	}
	return flush()
}

// statuses returns the first failure of the answers of a batch, whose status is in a field.
func statuses(answer []byte, status protowire.Number) error {
	return read(answer, func(field protowire.Number, v value) error {
		if field != 1 {
			return nil
		}
		return read(v.b, func(field protowire.Number, v value) error {
			if field != status {
				return nil
			}
			return readStatus(v.b)
		})
	})
}

// path returns the name of a resource of the instance.
func (s *store) path(name string) string {
	if s.instance == "" {
		return name
	}
	return s.instance + "/" + name
}

// stream uploads one blob by ByteStream.Write. An attempt that was interrupted starts again from the
// first byte: servers may refuse to continue, and the only large blob is sent once.
func (s *store) stream(ctx context.Context, d digest, blob Blob) error {
	return s.retry(ctx, blobTime, func(ctx context.Context) error {
		data, err := blob.open()
		if err != nil {
			return err
		}
		defer data.Close()
		var id [16]byte
		_, _ = rand.Read(id[:]) // never fails
		name := s.path(fmt.Sprintf("uploads/%x-%x-%x-%x-%x/blobs/%s", id[:4], id[4:6], id[6:8],
			id[8:10], id[10:], d))
		offset := int64(0)
		answer, err := s.conn.Upload(ctx, "/google.bytestream.ByteStream/Write", func() ([]byte, error) {
			if offset == d.size {
				return nil, io.EOF
			}
			chunk := make([]byte, min(chunkBytes, d.size-offset))
			if _, err := io.ReadFull(data, chunk); err != nil {
				return nil, err
			}
			var w writer
			if offset == 0 {
				w.text(1, name)
			}
			w.uint(2, uint64(offset))
			offset += int64(len(chunk))
			w.bool(3, offset == d.size)
			w.bytes(10, chunk)
			return w, nil
		})
		if err != nil {
			return err
		}
		return read(answer, func(field protowire.Number, v value) error {
			// A server that has the blob by now answers early, with its size or with -1.
			if n := int64(v.n); field == 1 && n != d.size && n != -1 {
				return &rpc.Error{Code: rpc.Internal,
					Message: fmt.Sprintf("the server has stored %d bytes of %d", n, d.size)}
			}
			return nil
		})
	})
}

// errDamaged says that a blob is not what its digest says.
var errDamaged = errors.New("the stored bytes do not have the digest under which they are stored")

// errMissing says that the server lacks a blob.
var errMissing = errors.New("the server does not have the blob")

// fetch downloads a blob and verifies its digest. It fails with errDamaged or errMissing if the
// server has no such blob.
func (s *store) fetch(ctx context.Context, d digest) ([]byte, error) {
	if d.size > maxOutput {
		return nil, fmt.Errorf("an output of %d bytes; the limit is %d", d.size, int64(maxOutput))
	}
	get := s.fetchSmall
	if d.size > s.batch {
		get = s.fetchLarge
	}
	var blob []byte
	err := s.retry(ctx, blobTime, func(ctx context.Context) (err error) {
		blob, err = get(ctx, d)
		return err
	})
	switch {
	case rpc.CodeOf(err) == rpc.NotFound:
		return nil, errMissing
	case err != nil:
		return nil, err
	case digestOf(blob) != d:
		return nil, errDamaged
	}
	return blob, nil
}

func (s *store) fetchSmall(ctx context.Context, d digest) ([]byte, error) {
	var w writer
	w.text(1, s.instance)
	w.message(2, d.marshal())
	answer, err := s.conn.Call(ctx, api+"ContentAddressableStorage/BatchReadBlobs", w)
	if err != nil {
		return nil, err
	}
	if err := statuses(answer, 3); err != nil {
		if rpc.CodeOf(err) != rpc.NotFound && temporary(err) {
			// A server that verifies what it stores says so by a status of its own choice.
			return nil, fmt.Errorf("%w: %w", errMissing, err)
		}
		return nil, err
	}
	var blob []byte
	err = read(answer, func(field protowire.Number, v value) error {
		if field != 1 {
			return nil
		}
		return read(v.b, func(field protowire.Number, v value) error {
			if field == 2 {
				blob = v.b
			}
			return nil
		})
	})
	return blob, err
}

func (s *store) fetchLarge(ctx context.Context, d digest) ([]byte, error) {
	var w writer
	w.text(1, s.path("blobs/"+d.String()))
	var blob []byte
	err := s.conn.Stream(ctx, "/google.bytestream.ByteStream/Read", w, func(message []byte) error {
		return read(message, func(field protowire.Number, v value) error {
			if field == 10 {
				blob = append(blob, v.b...)
			}
			if int64(len(blob)) > d.size {
				return errDamaged
			}
			return nil
		})
	})
	return blob, err
}

// lookup asks the action cache for the result of an action; nil if it has none. The server may
// send the contents of the output along.
func (s *store) lookup(ctx context.Context, action digest, output string) (*outcome, error) {
	var w writer
	w.text(1, s.instance)
	w.message(2, action.marshal())
	w.each(5, output)
	answer, err := s.call(ctx, api+"ActionCache/GetActionResult", w)
	switch {
	case rpc.CodeOf(err) == rpc.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return readOutcome(answer)
}

// keep writes the result of an action to the action cache.
func (s *store) keep(ctx context.Context, action digest, o *outcome) error {
	var w writer
	w.text(1, s.instance)
	w.message(2, action.marshal())
	w.message(3, o.marshal())
	_, err := s.call(ctx, api+"ActionCache/UpdateActionResult", w)
	return err
}

// contents returns an output, of what the server has sent along or from the storage.
func (s *store) contents(ctx context.Context, f outputFile) ([]byte, error) {
	if len(f.contents) > 0 && digestOf(f.contents) == f.digest {
		return f.contents, nil
	}
	return s.fetch(ctx, f.digest)
}
