package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
)

// Any bytes are messages and errors up to an end. A message is written and read again without loss.
func FuzzRead(f *testing.F) {
	f.Add([]byte("Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n"))
	f.Add([]byte("content-length:2\nContent-Type: x\n\n{}Content-Length: 3\n\nnul"))
	f.Add([]byte("Content-Length: 9999999999999\r\n\r\n{"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := &conn{r: bufio.NewReader(bytes.NewReader(in))}
		for n := 0; ; n++ {
			if n > len(in) {
				t.Fatal("more messages than bytes")
			}
			m, err := c.read()
			var syntax *rpcError
			switch {
			case errors.As(err, &syntax): // the next message follows
				if syntax.Message == "" {
					t.Error("an error without a message")
				}
				continue
			case err != nil:
				return
			}
			var b bytes.Buffer
			if err := (&conn{w: &b}).write(m); err != nil {
				t.Fatal(err)
			}
			again, err := (&conn{r: bufio.NewReader(&b)}).read()
			if err != nil || again.Method != strings.ToValidUTF8(m.Method, "\ufffd") {
				t.Errorf("%+v was read as %+v, %v", m, again, err)
			}
		}
	})
}
