package rpc

import (
	"errors"
	"fmt"
	"net/http"
)

// Code is a status code of gRPC (google.golang.org/genproto, google/rpc/code.proto).
type Code uint32

// The codes that a client distinguishes.
const (
	OK                 Code = 0
	Canceled           Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	Aborted            Code = 10
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	Unauthenticated    Code = 16
)

var codeNames = map[Code]string{
	OK: "OK", Canceled: "CANCELLED", Unknown: "UNKNOWN", InvalidArgument: "INVALID_ARGUMENT",
	DeadlineExceeded: "DEADLINE_EXCEEDED", NotFound: "NOT_FOUND", 6: "ALREADY_EXISTS",
	PermissionDenied: "PERMISSION_DENIED", ResourceExhausted: "RESOURCE_EXHAUSTED",
	FailedPrecondition: "FAILED_PRECONDITION", Aborted: "ABORTED", 11: "OUT_OF_RANGE",
	Unimplemented: "UNIMPLEMENTED", Internal: "INTERNAL", Unavailable: "UNAVAILABLE",
	15: "DATA_LOSS", Unauthenticated: "UNAUTHENTICATED",
}

// String is the name of a code in the specification of gRPC.
func (c Code) String() string {
	if name := codeNames[c]; name != "" {
		return name
	}
	return fmt.Sprintf("status %d", uint32(c))
}

// Error is the status of a call that failed.
type Error struct {
	Code    Code
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code.String()
	}
	return e.Code.String() + ": " + e.Message
}

// CodeOf returns the code of an error: OK for nil, and Unknown for one that is no status.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	}
	return Unknown
}

// fromHTTP returns the code for an answer that is not one of a gRPC server, such as that of a proxy
// ("HTTP to gRPC Status Code Mapping" of github.com/grpc/grpc).
func fromHTTP(code int) Code {
	switch code {
	case http.StatusBadRequest:
		return Internal
	case http.StatusUnauthorized:
		return Unauthenticated
	case http.StatusForbidden:
		return PermissionDenied
	case http.StatusNotFound:
		return Unimplemented
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return Unavailable
	}
	return Unknown
}
