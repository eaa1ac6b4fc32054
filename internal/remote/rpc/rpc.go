// Package rpc calls gRPC methods over net/http's HTTP/2.
//
// A remote execution client needs four services and a dozen small messages. The gRPC library for Go
// would make the program a fifth larger for them, and nothing else in heddle has a use for it, while
// the HTTP/2 client is linked anyway. The protocol is "gRPC over HTTP2"
// (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md): a POST for each call, whose messages are preceded
// by five bytes, and a status in the trailers. Not implemented: compression of messages, name
// resolution beyond that of the system, and balancing over several addresses. The tests call a
// server of the gRPC library.
//
// The package knows neither messages nor services. It imports no other package of heddle.
package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxMessage bounds a received message, in bytes. Servers limit theirs to 4 MiB by default.
const maxMessage = 64 << 20

// Times after which a connection that carries nothing is tested and given up. Without them a call to
// a machine that was switched off would wait until its deadline.
const (
	pingAfter = 20 * time.Second
	pingLimit = 15 * time.Second
)

// Conn calls the methods of one server. It is safe for concurrent use, and connects when it needs
// to: a server that was restarted is connected to again by the next call.
type Conn struct {
	base   string // "https://host:port"
	client http.Client
	header http.Header
}

// Options of a connection.
type Options struct {
	TLS    bool
	Roots  *x509.CertPool // that may sign the server's certificate; nil: those of the system
	Header http.Header    // sent with each call, such as authorization
}

// Dial returns a connection to HOST:PORT. It does not connect yet.
func Dial(address string, opt Options) *Conn {
	protocols := new(http.Protocols)
	transport := &http.Transport{
		Protocols: protocols, DisableCompression: true,
		TLSClientConfig: &tls.Config{RootCAs: opt.Roots},
		HTTP2:           &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingLimit},
	}
	c := &Conn{base: "http://" + address, client: http.Client{Transport: transport},
		header: opt.Header}
	if opt.TLS {
		c.base = "https://" + address
		transport.Proxy = http.ProxyFromEnvironment
		protocols.SetHTTP2(true)
	} else {
		protocols.SetUnencryptedHTTP2(true)
	}
	return c
}

// Close ends idle connections.
func (c *Conn) Close() { c.client.CloseIdleConnections() }

// Call sends one message and returns the answer.
func (c *Conn) Call(ctx context.Context, method string, message []byte) ([]byte, error) {
	return c.single(ctx, method, bytes.NewReader(frame(message)))
}

// Upload sends the messages of next, which returns io.EOF after the last one, and returns the
// answer. The server may answer before it has received all of them.
func (c *Conn) Upload(ctx context.Context, method string, next func() ([]byte, error)) (
	[]byte, error) {
	return c.single(ctx, method, &frames{next: next})
}

// single performs a call with one answer.
func (c *Conn) single(ctx context.Context, method string, body io.Reader) ([]byte, error) {
	var answer []byte
	n := 0
	err := c.stream(ctx, method, body, func(m []byte) error {
		answer, n = m, n+1
		return nil
	})
	if err == nil && n != 1 {
		err = &Error{Internal, fmt.Sprintf("%s: %d answers, expected one", method, n)}
	}
	return answer, err
}

// Stream sends one message and passes each answer to each. It ends with the stream, or with the
// first error of each, which it returns as it is.
func (c *Conn) Stream(ctx context.Context, method string, message []byte,
	each func([]byte) error) error {
	return c.stream(ctx, method, bytes.NewReader(frame(message)), each)
}

// stream performs a call. Errors are *Error, but for those of each.
func (c *Conn) stream(ctx context.Context, method string, body io.Reader,
	each func([]byte) error) error {
	ctx, cancel := context.WithCancel(ctx) // ends the stream if each fails
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, body)
	if err != nil {
		return &Error{InvalidArgument, err.Error()}
	}
	for name, values := range c.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	req.Header.Set("User-Agent", "heddle")
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set("Grpc-Timeout", timeout(time.Until(deadline)))
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return failed(ctx, method, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &Error{fromHTTP(resp.StatusCode), method + ": the server answers HTTP " + resp.Status}
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/grpc") {
		return &Error{Unknown, fmt.Sprintf("%s: the server answers %q, expected application/grpc; "+
			"is it a gRPC server?", method, kind)}
	}
	for {
		message, err := receive(resp.Body)
		if err == io.EOF {
			break
		}
		if err != nil {
			return failed(ctx, method, err)
		}
		if err := each(message); err != nil {
			return err
		}
	}
	// A response without messages may have its status among the headers.
	trailer := resp.Trailer
	if trailer.Get("Grpc-Status") == "" {
		trailer = resp.Header
	}
	return status(method, trailer)
}

// frame returns a message with its prefix: not compressed, and its length.
func frame(message []byte) []byte {
	out := make([]byte, 5, 5+len(message))
	binary.BigEndian.PutUint32(out[1:], uint32(len(message)))
	return append(out, message...)
}

// receive reads one message. It returns io.EOF at the end of the stream.
func receive(r io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, &Error{Internal, "the server compresses a message without being asked to"}
	case n > maxMessage:
		return nil, &Error{ResourceExhausted, fmt.Sprintf("a message of %d bytes; the limit is %d", n,
			maxMessage)}
	}
	var message bytes.Buffer
	if _, err := io.CopyN(&message, r, int64(n)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return message.Bytes(), nil
}

// frames reads the messages of next as one body.
type frames struct {
	next func() ([]byte, error)
	rest []byte
}

// Read implements io.Reader.
func (f *frames) Read(b []byte) (int, error) {
	if len(f.rest) == 0 {
		message, err := f.next()
		if err != nil {
			return 0, err
		}
		f.rest = frame(message)
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// failed describes a call that got no status. The end of the context has precedence: what the
// connection says follows from it.
func failed(ctx context.Context, method string, err error) error {
	var own *Error
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), passed(ctx):
		return &Error{DeadlineExceeded, method + ": the deadline has passed"}
	case ctx.Err() != nil:
		return &Error{Canceled, method + ": " + context.Cause(ctx).Error()}
	case errors.As(err, &own):
		return own
	}
	var at *url.Error // repeats method and address
	if errors.As(err, &at) {
		err = at.Err
	}
	return &Error{Unavailable, err.Error()}
}

// status reads the status of a call.
func status(method string, trailer http.Header) error {
	text := trailer.Get("Grpc-Status")
	if text == "" { // the connection ended before the server had said how the call went
		return &Error{Unavailable, method + ": the stream ended without a status"}
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return &Error{Unknown, fmt.Sprintf("%s: status %q is not a number", method, text)}
	}
	if n == 0 {
		return nil
	}
	message, err := url.PathUnescape(trailer.Get("Grpc-Message"))
	if err != nil {
		message = trailer.Get("Grpc-Message")
	}
	return &Error{Code(n), message}
}

// timeout writes a duration as the header Grpc-Timeout has it: at most eight digits and a unit.
func timeout(d time.Duration) string {
	d = max(d, time.Millisecond)
	if ms := d.Milliseconds(); ms < 1e8 {
		return fmt.Sprintf("%dm", ms)
	}
	return fmt.Sprintf("%dS", min(int64(d.Seconds()), 99_999_999))
}

// Binary encodes the value of a header whose name ends with -bin.
func Binary(value []byte) string { return base64.RawStdEncoding.EncodeToString(value) }

// passed reports whether the deadline of a call has passed, or will at once: the server has been
// told of it, and may end the call before the context does.
func passed(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ok && time.Until(d) < 20*time.Millisecond
}
