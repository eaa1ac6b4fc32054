package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// progressDelay is the time before progress is shown. Most runs end sooner and show none.
const progressDelay = 300 * time.Millisecond

// withProgress calls do, which may take long. The client shows the progress and may cancel the
// context of do. The function passed to do reports what is being done; it never blocks.
func (s *Server) withProgress(ctx context.Context, title string,
	do func(context.Context, func(string)) (*Report, error)) (*Report, error) {
	if !s.progress {
		return do(ctx, func(string) {})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.last++
	token := fmt.Sprintf("heddle-%d", s.last)
	s.tokens[token] = cancel
	s.mu.Unlock()
	says := make(chan string, 1)
	done := make(chan struct{})
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		s.report(token, title, says, done)
	}()
	// Wait for report to send the end of the progress, so that it precedes the result.
	defer func() {
		close(done)
		<-shown
		s.mu.Lock()
		delete(s.tokens, token)
		s.mu.Unlock()
	}()
	return do(ctx, func(text string) {
		select { // drop the text if the previous one is still unsent
		case says <- text:
		default:
		}
	})
}

// report shows progress until done is closed. A client that refuses the token sees none; the work
// goes on.
func (s *Server) report(token, title string, says <-chan string, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-time.After(progressDelay):
	}
	id, answer := s.calls.expect()
	raw, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		return
	}
	s.send(&message{ID: &id, Method: "window/workDoneProgress/create", Params: raw})
	select {
	case <-done:
		return
	case m := <-answer:
		if m.Error != nil {
			return
		}
	}
	value := func(v progressValue) {
		if err := s.conn.notify("$/progress", progressParams{token, v}); err != nil {
			s.log(err.Error())
		}
	}
	value(progressValue{Kind: "begin", Title: title, Cancellable: true})
	for {
		select {
		case <-done:
			value(progressValue{Kind: "end"})
			return
		case text := <-says:
			value(progressValue{Kind: "report", Message: text, Cancellable: true})
		}
	}
}
