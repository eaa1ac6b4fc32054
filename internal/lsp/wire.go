// Package lsp serves editors over the Language Server Protocol 3.17: diagnostics while a kernel is
// being edited, the verdict on hover, and repairs as quick fixes. The package implements the
// protocol and tracks open documents; an Engine examines their content.
//
// One goroutine reads messages and one handles them in order. Runs of the engine, hovers and
// commands run in the background. Server.mu protects all state of documents; a result is dropped if
// its document has changed in the meantime.
package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// maxMessage is the maximum size of a message in bytes, far above any source file.
const maxMessage = 64 << 20

// Error codes of JSON-RPC 2.0 and of LSP (3.17, ErrorCodes).
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeNotInitialized = -32002
	codeCancelled      = -32800
)

// message is a request (ID and Method), a notification (Method), or a response (ID).
type message struct {
	JSONRPC string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Result  json.RawMessage  `json:"result,omitempty"`
	Error   *rpcError        `json:"error,omitempty"`
}

// rpcError is the error of a response. Code is one of the constants above.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error returns the message, for errors that are logged instead of sent.
func (e *rpcError) Error() string { return e.Message }

// fail returns the error of a response with a formatted message. code is one of the constants
// above.
func fail(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// conn frames messages: a header with Content-Length, an empty line, and the content as JSON. Reads
// come from one goroutine, writes from any.
type conn struct {
	r  *bufio.Reader
	mu sync.Mutex // of w
	w  io.Writer
}

// errFrame reports a stream that is not a sequence of messages. It is fatal, since the start of the
// next message is unknown.
var errFrame = errors.New("expected a message with a Content-Length header")

// read returns the next message. If the content is not valid JSON, the error is an *rpcError and
// the next message can still be read.
func (c *conn) read() (*message, error) {
	length := -1
	for {
		line, err := c.r.ReadString('\n')
		if err == io.EOF && line != "" {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, errFrame
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 ||
				length > maxMessage {
				return nil, errFrame
			}
		}
	}
	if length < 0 {
		return nil, errFrame
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.r, body); err != nil {
		return nil, err
	}
	m := new(message)
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fail(codeParse, "%v", err)
	}
	return m, nil
}

// write sends a message in one piece. It is safe for concurrent use: responses of background
// requests and notifications come from several goroutines.
func (c *conn) write(m *message) error {
	m.JSONRPC = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.w.Write(b.Bytes())
	return err
}

// notify sends a notification, which has no id and gets no response.
func (c *conn) notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.write(&message{Method: method, Params: raw})
}

// calls tracks requests by id: those of the client that are being answered, and those of the server
// that wait for a response.
type calls struct {
	mu     sync.Mutex
	cancel map[string]context.CancelFunc
	waits  map[string]chan<- *message
	last   int
}

// begin registers a request of the client and returns its context, which stop cancels. Every begin
// must be followed by end.
func (c *calls) begin(ctx context.Context, id string) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel[id] = cancel
	return ctx
}

// end removes a request and reports whether the client cancelled it: the response must then be the
// error RequestCancelled.
func (c *calls) end(ctx context.Context, id string) (cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancelled = ctx.Err() != nil
	if cancel := c.cancel[id]; cancel != nil {
		cancel()
	}
	delete(c.cancel, id)
	return cancelled
}

// stop cancels a request of the client. The request may have been answered already; then nothing
// happens.
func (c *calls) stop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.cancel[id]; cancel != nil {
		cancel()
	}
}

// expect returns a new id for a request of the server, and a channel that receives its response.
// The channel has room for it, so the reader never waits for the requester.
func (c *calls) expect() (json.RawMessage, <-chan *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id := json.RawMessage(strconv.Quote(fmt.Sprintf("heddle-%d", c.last)))
	ch := make(chan *message, 1)
	c.waits[string(id)] = ch
	return id, ch
}

// deliver passes a response of the client to the request that waits for it. Other responses are
// dropped.
func (c *calls) deliver(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.waits[string(*m.ID)]; ch != nil {
		delete(c.waits, string(*m.ID))
		ch <- m
	}
}
