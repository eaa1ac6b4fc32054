package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The transport of the SDK ends the connection at the first line that is not a message. This one
// answers such a line with an error and goes on, so that one mistake of a client, or a shell that
// prints a greeting, does not cost it the server.

// maxMessage bounds the bytes of a message, above maxText and its escapes.
const maxMessage = 32 << 20

// transport implements sdk.Transport and sdk.Connection over two streams, one message a line.
type transport struct {
	out    io.Writer
	ended  func() // called once the input has ended
	lines  chan line
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex // of out and pending
	pending  int        // requests without an answer
	answered chan struct{}
}

// lastAnswers bounds the time in which requests are answered once the input has ended: calls are
// cancelled then, and the others take no time.
const lastAnswers = 5 * time.Second

// line is one line of the input, without its end; long: it has more than maxMessage bytes, and text
// is empty.
type line struct {
	text []byte
	long bool
	err  error // the end of the input
}

// newTransport returns a connection that reads in and writes out. It calls ended when in ends.
func newTransport(in io.Reader, out io.Writer, ended func()) *transport {
	t := &transport{out: out, ended: ended, lines: make(chan line), closed: make(chan struct{}),
		answered: make(chan struct{}, 1)}
	go t.read(bufio.NewReaderSize(in, 1<<16))
	return t
}

// Connect implements sdk.Transport.
func (t *transport) Connect(context.Context) (sdk.Connection, error) { return t, nil }

// SessionID implements sdk.Connection: a process has one session, without a name.
func (t *transport) SessionID() string { return "" }

// Close implements sdk.Connection. A read of the input that blocks is left behind.
func (t *transport) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

// read passes lines on until the input ends.
func (t *transport) read(in *bufio.Reader) {
	for {
		l := readLine(in)
		if l.err != nil {
			t.ended()
		}
		select {
		case t.lines <- l:
		case <-t.closed:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads one line. The last one need not have an end. Of a line that is too long, nothing
// is kept.
func readLine(in *bufio.Reader) line {
	var l line
	for {
		part, err := in.ReadSlice('\n')
		if len(l.text)+len(part) > maxMessage {
			l.text, l.long = nil, true
		}
		if !l.long {
			l.text = append(l.text, part...)
		}
		switch {
		case err == nil, err == io.EOF && (len(l.text) > 0 || l.long):
			l.text = bytes.TrimSpace(l.text)
			return l
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{err: err}
		}
	}
}

// Read implements sdk.Connection. What is not a message is answered here.
func (t *transport) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.closed:
			return nil, io.EOF
		case l := <-t.lines:
			if l.err != nil {
				t.finish()
				return nil, l.err
			}
			msg, wrong := decodeMessage(l)
			if msg != nil {
				if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
					t.count(1)
				}
				return msg, nil
			}
			if wrong != nil {
				if err := t.write(wrong); err != nil {
					return nil, err
				}
			}
		}
	}
}

// count changes the number of requests without an answer.
func (t *transport) count(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending += n
	select {
	case t.answered <- struct{}{}:
	default:
	}
}

// finish waits until the requests are answered: the SDK drops those that are pending when Read
// returns an error.
func (t *transport) finish() {
	limit := time.After(lastAnswers)
	for {
		t.mu.Lock()
		n := t.pending
		t.mu.Unlock()
		if n <= 0 {
			return
		}
		select {
		case <-t.answered:
		case <-t.closed:
			return
		case <-limit:
			return
		}
	}
}

// decodeMessage returns the message of a line, or the answer to one that is none. A blank line is
// neither.
func decodeMessage(l line) (jsonrpc.Message, []byte) {
	switch {
	case l.long:
		return nil, rejection(nil, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("the message has more than %d bytes", maxMessage))
	case len(l.text) == 0:
		return nil, nil
	// Also bounds the depth, which the decoder of the SDK does not.
	case !json.Valid(l.text):
		return nil, rejection(nil, jsonrpc.CodeParseError,
			"the line is not JSON; expected one JSON-RPC message a line")
	case l.text[0] != '{':
		return nil, rejection(nil, jsonrpc.CodeInvalidRequest,
			"expected one JSON-RPC message, an object; batches are not supported")
	}
	msg, err := jsonrpc.DecodeMessage(l.text)
	if err != nil {
		var head struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(l.text, &head) // without an ID, the answer has none
		return nil, rejection(head.ID, jsonrpc.CodeInvalidRequest, err.Error())
	}
	return msg, nil
}

// rejection is the answer to a line that is not a message. An ID that JSON-RPC does not allow is
// left out.
func rejection(id json.RawMessage, code int, text string) []byte {
	if len(id) == 0 || bytes.IndexByte([]byte(`{[tf`), id[0]) >= 0 {
		id = json.RawMessage("null")
	}
	out, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": code, "message": text}}) // of strings and numbers: no error
	return out
}

// codeCancelled is the code of the answer to a call that was cancelled, as in the Language Server
// Protocol.
const codeCancelled = -32800

// Write implements sdk.Connection. It drops the answer to a call that was cancelled.
func (t *transport) Write(_ context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if ok {
		defer t.count(-1)
	}
	var wrong *jsonrpc.Error
	if ok && errors.As(r.Error, &wrong) && wrong.Code == codeCancelled {
		return nil
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return t.write(text)
}

// write writes one line with a single call, so that messages do not mix.
func (t *transport) write(text []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.out.Write(append(text, '\n'))
	return err
}
