// Package lsp serves editors: diagnostics while a kernel is written, its verdict on hover, and repairs as quick fixes,
// by the Language Server Protocol 3.17. It knows the protocol and the documents that are open; what is found in them an
// Engine says.
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

// maxMessage bounds a message: a file of that size is no kernel.
const maxMessage = 64 << 20

// Error codes of JSON-RPC and of the protocol.
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

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func fail(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// conn frames messages: a header with Content-Length, an empty line, and the content.
type conn struct {
	r  *bufio.Reader
	mu sync.Mutex // of w
	w  io.Writer
}

// errFrame is a stream that is no sequence of messages: what follows cannot be found.
var errFrame = errors.New("not a message with a Content-Length header")

// read returns the next message. A content that is no JSON is an *rpcError; the next message can be read after it.
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
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
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

// notify sends a notification.
func (c *conn) notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.write(&message{Method: method, Params: raw})
}

// calls are the requests of the client that are under way, by id, and those of the server that wait for a response.
type calls struct {
	mu     sync.Mutex
	cancel map[string]context.CancelFunc
	waits  map[string]chan<- *message
	last   int
}

func (c *calls) begin(ctx context.Context, id string) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel[id] = cancel
	return ctx
}

// end forgets a request; cancelled says whether the client took it back.
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

// stop cancels a request of the client.
func (c *calls) stop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.cancel[id]; cancel != nil {
		cancel()
	}
}

// expect draws an id for a request of the server, and returns where its response arrives.
func (c *calls) expect() (json.RawMessage, <-chan *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id := json.RawMessage(strconv.Quote(fmt.Sprintf("heddle-%d", c.last)))
	ch := make(chan *message, 1)
	c.waits[string(id)] = ch
	return id, ch
}

// deliver hands a response of the client over.
func (c *calls) deliver(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.waits[string(*m.ID)]; ch != nil {
		delete(c.waits, string(*m.ID))
		ch <- m
	}
}
