package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// progressDelay is how long something takes before progress is shown: most runs are done before.
const progressDelay = 300 * time.Millisecond

// withProgress does something that may take long, shows the client that it is under way, and lets it be cancelled.
func (s *Server) withProgress(ctx context.Context, title string, do func(context.Context, func(string)) (*Report, error)) (*Report, error) {
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
	defer func() {
		close(done)
		<-shown
		s.mu.Lock()
		delete(s.tokens, token)
		s.mu.Unlock()
	}()
	return do(ctx, func(text string) {
		select { // the latest is enough
		case says <- text:
		default:
		}
	})
}

// report shows progress until done is closed.
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
