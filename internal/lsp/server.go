package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"heddle/internal/diag"
)

// DefaultDelay is the time from the last edit of a document to its check.
const DefaultDelay = 600 * time.Millisecond

// Server serves one client over one pair of streams.
type Server struct {
	conn    *conn
	engine  Engine
	version string
	site    diag.Site
	log     func(string)

	calls calls
	work  sync.WaitGroup // runs and requests in the background
	root  context.Context
	stop  context.CancelFunc

	mu       sync.Mutex
	docs     map[string]*document // by URI
	enc      encoding
	onChange bool
	delay    time.Duration
	progress bool                          // the client can show progress
	refresh  bool                          // the client refreshes lenses on request
	versions bool                          // the client compares the versions of edits
	ready    bool                          // after initialize
	down     bool                          // after shutdown
	tokens   map[string]context.CancelFunc // of progress that is shown
	last     int                           // number of the last progress token
}

// NewServer returns a server that reads from r and writes to w. Diagnostics link to pages of site,
// unless it is empty. log receives errors that belong to no request; it may be called from several
// goroutines.
func NewServer(r io.Reader, w io.Writer, engine Engine, version string, site diag.Site,
	log func(string)) *Server {
	ctx, stop := context.WithCancel(context.Background())
	return &Server{
		conn: &conn{r: bufio.NewReader(r), w: w}, engine: engine, version: version, site: site, log: log,
		calls: calls{cancel: map[string]context.CancelFunc{}, waits: map[string]chan<- *message{}},
		root:  ctx, stop: stop, docs: map[string]*document{}, onChange: true, delay: DefaultDelay,
		tokens: map[string]context.CancelFunc{},
	}
}

// errExit reports an exit notification, the regular end of a session.
var errExit = errors.New("exit")

// Serve answers the client until it sends exit, the stream ends, or ctx is done, and waits for all
// background work. It returns nil only after a regular shutdown.
func (s *Server) Serve(ctx context.Context) error {
	defer s.work.Wait()
	defer s.stop()
	undo := context.AfterFunc(ctx, s.stop)
	defer undo()
	// over ends the reader if Serve returns while a message is waiting. A read that is blocked ends
	// only with the stream.
	messages, over := make(chan *message), make(chan struct{})
	defer close(over)
	failed := make(chan error, 1)
	go func() { // ends when the stream ends
		for {
			m, err := s.conn.read()
			var bad *rpcError
			if errors.As(err, &bad) {
				m, err = &message{Error: bad}, nil
			}
			if err != nil {
				failed <- err
				return
			}
			select {
			case messages <- m:
			case <-over:
				return
			}
		}
	}()
	for {
		select {
		case m := <-messages:
			if err := s.handle(m); err == errExit {
				if s.down {
					return nil
				}
				return errors.New("the client sent exit without shutdown")
			} else if err != nil {
				return err
			}
		case err := <-failed:
			if err == io.EOF && s.down {
				return nil
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle processes one message: it answers a request, starts background work, or applies a
// notification. An error is one of writing, or errExit.
func (s *Server) handle(m *message) error {
	switch {
	case m.Method == "" && m.Error != nil && m.ID == nil: // content that is not valid JSON
		null := json.RawMessage("null")
		return s.conn.write(&message{ID: &null, Error: m.Error})
	case m.Method == "" && m.ID != nil:
		s.calls.deliver(m)
		return nil
	case m.Method == "exit":
		return errExit
	case m.ID == nil:
		s.notification(m)
		return nil
	}
	// Requests that may take long are answered out of order and can be cancelled.
	if f := s.background(m.Method); f != nil && s.ready && !s.down {
		id := string(*m.ID)
		ctx := s.calls.begin(s.root, id)
		s.work.Go(func() {
			result, err := f(ctx, m.Params)
			if s.calls.end(ctx, id) {
				result, err = nil, fail(codeCancelled, "cancelled")
			}
			if err := s.respond(m, result, err); err != nil {
				s.log(err.Error())
			}
		})
		return nil
	}
	result, err := s.request(m)
	return s.respond(m, result, err)
}

// respond sends the response to a request: the result, or the failure if it is not nil. Every
// request gets exactly one.
func (s *Server) respond(m *message, result any, failure *rpcError) error {
	if failure != nil {
		return s.conn.write(&message{ID: m.ID, Error: failure})
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return s.conn.write(&message{ID: m.ID, Result: raw})
}

// params decodes the parameters of a request. A failure is the error InvalidParams of the response.
func params[T any](raw json.RawMessage) (T, *rpcError) {
	var p T
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fail(codeInvalidParams, "%v", err)
	}
	return p, nil
}

// background returns the handler of a request that may take long, and nil for other requests, which
// are answered in the order of arrival.
func (s *Server) background(method string) func(context.Context, json.RawMessage) (any, *rpcError) {
	switch method {
	case "workspace/executeCommand":
		return s.execute
	case "textDocument/hover":
		return s.hover
	}
	return nil
}

// request answers a request that takes no time. Before initialize and after shutdown it refuses all
// others, as the protocol requires.
func (s *Server) request(m *message) (any, *rpcError) {
	switch {
	case m.Method == "initialize":
		return s.initialize(m.Params)
	case !s.ready:
		return nil, fail(codeNotInitialized, "the first request must be initialize")
	case s.down:
		return nil, fail(codeInvalidRequest, "the server has been shut down")
	}
	switch m.Method {
	case "shutdown":
		s.down = true
		s.stop()
		return nil, nil
	case "textDocument/codeLens":
		return s.lenses(m.Params)
	case "textDocument/codeAction":
		return s.actions(m.Params)
	}
	return nil, fail(codeMethodNotFound, "%s is not supported", m.Method)
}

// initialize negotiates the encoding and the features of the client, and returns those of the
// server.
func (s *Server) initialize(raw json.RawMessage) (any, *rpcError) {
	if s.ready {
		return nil, fail(codeInvalidRequest, "initialize was sent twice")
	}
	p, err := params[initializeParams](raw)
	if err != nil {
		return nil, err
	}
	// UTF-8 columns are byte columns, as positions have them, so they are preferred.
	name := "utf-16"
	for _, e := range p.Capabilities.General.PositionEncodings {
		if e == "utf-8" {
			s.enc, name = utf8Bytes, e
		}
	}
	s.progress = p.Capabilities.Window.WorkDoneProgress
	s.refresh = p.Capabilities.Workspace.CodeLens.RefreshSupport
	s.versions = p.Capabilities.Workspace.WorkspaceEdit.DocumentChanges
	if o := p.InitializationOptions; o.OnChange != nil {
		s.onChange = *o.OnChange
	}
	if o := p.InitializationOptions; o.Delay != nil {
		s.delay = time.Duration(max(*o.Delay, 0)) * time.Millisecond
	}
	s.ready = true
	type object = map[string]any
	return object{
		"capabilities": object{
			"positionEncoding": name,
			"textDocumentSync": object{"openClose": true, "change": 2,
				"save": object{"includeText": false}},
			"hoverProvider":          true,
			"codeLensProvider":       object{"resolveProvider": false},
			"codeActionProvider":     object{"codeActionKinds": []string{"quickfix"}},
			"executeCommandProvider": object{"commands": s.commands()},
		},
		"serverInfo": object{"name": "heddle", "version": s.version},
	}, nil
}

// notification applies a notification. Unknown ones are ignored, as the protocol requires, and
// errors are logged, since notifications have no response.
func (s *Server) notification(m *message) {
	if !s.ready || s.down {
		return
	}
	var err *rpcError
	switch m.Method {
	case "textDocument/didOpen":
		err = s.didOpen(m.Params)
	case "textDocument/didChange":
		err = s.didChange(m.Params)
	case "textDocument/didSave":
		err = s.didSave(m.Params)
	case "textDocument/didClose":
		err = s.didClose(m.Params)
	case "$/cancelRequest":
		var p struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			s.calls.stop(string(p.ID))
		}
	case "window/workDoneProgress/cancel":
		var p struct {
			Token string `json:"token"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			s.mu.Lock()
			if cancel := s.tokens[p.Token]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
		}
	}
	if err != nil {
		s.log(m.Method + ": " + err.Message)
	}
}
