package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A line that is no message is answered with the error of JSON-RPC 2.0 (section 5.1), and does not
// end the connection.
func TestGarbage(t *testing.T) {
	const parse, invalid = -32700.0, -32600.0
	for _, tt := range []struct {
		line string
		code float64 // 0: no answer
		id   any
	}{
		{"", 0, nil},
		{" \t\r", 0, nil},
		{"hello", parse, nil},
		{"\x00\xff", parse, nil},
		{`{"jsonrpc": "2.0"`, parse, nil},
		{strings.Repeat("[", 100000), parse, nil}, // deeper than the decoder of the SDK should go
		{"[]", invalid, nil},
		{"[{}]", invalid, nil},
		{"null", invalid, nil},
		{"1", invalid, nil},
		{"{}", invalid, nil},
		{`{"id": 3, "method": "ping"}`, invalid, 3.0},
		{`{"id": "x", "method": "ping"}`, invalid, "x"},
		{`{"id": {"a": 1}, "method": "ping"}`, invalid, nil},
		{`{"id": [1], "method": "ping"}`, invalid, nil},
		{`{"id": true, "method": "ping"}`, invalid, nil},
		{strings.Repeat("x", maxMessage+1), invalid, nil},
	} {
		var out bytes.Buffer
		good := `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`
		tr := newTransport(strings.NewReader(tt.line+"\n"+good), &out, func() {})
		if msg, err := tr.Read(t.Context()); err != nil || msg == nil {
			t.Errorf("%.40q: the next message is %v, %v", tt.line, msg, err)
		}
		tr.count(-1) // its answer
		if _, err := tr.Read(t.Context()); err != io.EOF {
			t.Errorf("%.40q: the end is %v", tt.line, err)
		}
		if tt.code == 0 {
			if out.Len() > 0 {
				t.Errorf("%q: answer %s", tt.line, &out)
			}
			continue
		}
		var got struct {
			ID    any
			Error struct{ Code float64 }
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Error.Code != tt.code || got.ID != tt.id ||
			!bytes.HasSuffix(out.Bytes(), []byte("}\n")) {
			t.Errorf("%.40q: answer %s", tt.line, &out)
		}
	}
}

// At the end of the input, the requests before it are answered first.
func TestLastAnswers(t *testing.T) {
	var out bytes.Buffer
	tr := newTransport(strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "ping"}`), &out, func() {})
	msg, err := tr.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() {
		tr.Write(t.Context(), &jsonrpc.Response{ID: msg.(*jsonrpc.Request).ID, Result: json.RawMessage("{}")})
	})
	if _, err := tr.Read(t.Context()); err != io.EOF || out.String() != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("the end is %v, after %q", err, &out)
	}
}

// A long line costs no more memory than the bound, and the line behind it is intact.
func TestReadLine(t *testing.T) {
	in := bufio.NewReaderSize(io.MultiReader(strings.NewReader(strings.Repeat("x", 3*maxMessage)+"\nend")), 16)
	if l := readLine(in); !l.long || len(l.text) > 0 || l.err != nil {
		t.Errorf("a long line: %v, %d bytes, %v", l.long, len(l.text), l.err)
	}
	if l := readLine(in); l.long || string(l.text) != "end" || l.err != nil {
		t.Errorf("the last line: %q, %v", l.text, l.err)
	}
	if l := readLine(in); l.err != io.EOF {
		t.Errorf("the end: %v", l.err)
	}
}

// Close ends a read of an input that never ends.
func TestClose(t *testing.T) {
	in, _ := io.Pipe()
	tr := newTransport(in, io.Discard, func() {})
	time.AfterFunc(10*time.Millisecond, func() { tr.Close() })
	if _, err := tr.Read(context.Background()); err != io.EOF {
		t.Errorf("got %v", err)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
}

// The end of the context ends the server, with its cause.
func TestServeEnds(t *testing.T) {
	s, err := New(options(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(io.ErrNoProgress) })
	if err := s.Serve(ctx, in, io.Discard); err != io.ErrNoProgress {
		t.Errorf("got %v", err)
	}
}
