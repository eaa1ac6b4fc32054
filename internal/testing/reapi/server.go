// Package reapi is a server of Bazel's Remote Execution API for tests: a content addressed store, an
// action cache, an execution service and workers, in the process of the test.
//
// It is written with the gRPC library and the generated messages, and shares no code with the client
// in package remote, so that both cannot misread the API in the same way. The workers run the
// command of an action in a fresh directory that has its inputs and nothing else. Tests can kill
// workers, end the server and start it again, and damage what it stores.
package reapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Options of a server.
type Options struct {
	Address  string // to listen on; empty: a free port of the loopback
	Instance string // the only instance name that is served
	Workers  int    // how many commands run at a time; 0: it executes nothing
	ReadOnly bool   // clients may not write to the action cache
	MaxBatch int64  // bytes of a batch; 0: 4 MiB
	TLS      credentials.TransportCredentials
	// Header and Value, if set, must be sent with each call.
	Header, Value string
	// NoInline: outputs are not sent along with results.
	NoInline bool
}

// Counts are what a server has done.
type Counts struct {
	Calls     atomic.Int64
	Executed  atomic.Int64 // commands that ended by themselves
	Killed    atomic.Int64 // commands of workers that were killed
	Canceled  atomic.Int64 // commands that ended because nobody waited any more
	Waits     atomic.Int64 // calls of WaitExecution
	Streamed  atomic.Int64 // blobs that were uploaded by ByteStream
	SkipCache atomic.Int64 // executions that were not to use the cache
}

// Server is a running server.
type Server struct {
	opt    Options
	store  *Store
	grpc   *grpc.Server
	addr   string
	Counts *Counts
	ctx    context.Context // ends with the server
	cancel context.CancelFunc
	wg     sync.WaitGroup

	dir      string   // of the workers
	programs sync.Map // func() (string, error) by hash: the copies of executables in dir

	mu         sync.Mutex
	operations map[string]*operation
	queue      []*operation
	wake       chan struct{}
	running    map[*operation]context.CancelCauseFunc
	number     int

	repb.UnimplementedExecutionServer
	repb.UnimplementedActionCacheServer
	repb.UnimplementedContentAddressableStorageServer
	repb.UnimplementedCapabilitiesServer
	bytestream.UnimplementedByteStreamServer
}

// Start starts a server on a store.
func Start(store *Store, opt Options) (*Server, error) {
	if opt.MaxBatch == 0 {
		opt.MaxBatch = 4 << 20
	}
	if opt.Address == "" {
		opt.Address = "127.0.0.1:0"
	}
	var l net.Listener
	var err error
	for range 50 { // the port of a server that has just ended
		if l, err = net.Listen("tcp", opt.Address); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		return nil, err
	}
	s := &Server{opt: opt, store: store, addr: l.Addr().String(), Counts: new(Counts),
		operations: map[string]*operation{}, wake: make(chan struct{}, 1),
		running: map[*operation]context.CancelCauseFunc{}}
	if s.dir, err = os.MkdirTemp("", "reapi-*"); err != nil {
		_ = l.Close()
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.grpc = grpc.NewServer(grpc.Creds(opt.TLS), grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.streaming))
	repb.RegisterExecutionServer(s.grpc, s)
	repb.RegisterActionCacheServer(s.grpc, s)
	repb.RegisterContentAddressableStorageServer(s.grpc, s)
	repb.RegisterCapabilitiesServer(s.grpc, s)
	bytestream.RegisterByteStreamServer(s.grpc, s)
	for range opt.Workers {
		s.wg.Go(s.work)
	}
	s.wg.Go(func() { _ = s.grpc.Serve(l) }) // ends with Stop
	return s, nil
}

// Address is HOST:PORT.
func (s *Server) Address() string { return s.addr }

// URL is what a client connects to.
func (s *Server) URL() string {
	scheme := "grpc"
	if s.opt.TLS != nil {
		scheme = "grpcs"
	}
	return strings.TrimSuffix(scheme+"://"+s.addr+"/"+s.opt.Instance, "/")
}

// Stop ends the server at once: streams break, running commands are killed, and queued ones are
// forgotten.
func (s *Server) Stop() {
	s.cancel()
	s.grpc.Stop()
	s.wg.Wait()
	_ = os.RemoveAll(s.dir)
}

// Restart stops the server and starts another one on the same address and store.
func (s *Server) Restart() (*Server, error) {
	s.Stop()
	opt := s.opt
	opt.Address = s.addr
	return Start(s.store, opt)
}

// admit checks a call.
func (s *Server) admit(ctx context.Context) error {
	s.Counts.Calls.Add(1)
	if s.opt.Header == "" {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	if v := md.Get(s.opt.Header); len(v) != 1 || v[0] != s.opt.Value {
		return status.Error(codes.Unauthenticated, "no valid token")
	}
	return nil
}

func (s *Server) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
	h grpc.UnaryHandler) (any, error) {
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	if in, ok := req.(interface{ GetInstanceName() string }); ok && in.GetInstanceName() != s.opt.Instance {
		return nil, status.Errorf(codes.InvalidArgument, "no instance %q", in.GetInstanceName())
	}
	return h(ctx, req)
}

func (s *Server) streaming(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
	h grpc.StreamHandler) error {
	if err := s.admit(stream.Context()); err != nil {
		return err
	}
	return h(srv, stream)
}

// GetCapabilities implements Capabilities.
func (s *Server) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (
	*repb.ServerCapabilities, error) {
	return &repb.ServerCapabilities{
		CacheCapabilities: &repb.CacheCapabilities{
			DigestFunctions: []repb.DigestFunction_Value{repb.DigestFunction_SHA256},
			ActionCacheUpdateCapabilities: &repb.ActionCacheUpdateCapabilities{
				UpdateEnabled: !s.opt.ReadOnly},
			MaxBatchTotalSizeBytes: s.opt.MaxBatch,
		},
		ExecutionCapabilities: &repb.ExecutionCapabilities{
			DigestFunction: repb.DigestFunction_SHA256, ExecEnabled: s.opt.Workers > 0},
	}, nil
}

// GetActionResult implements ActionCache.
func (s *Server) GetActionResult(_ context.Context, r *repb.GetActionResultRequest) (
	*repb.ActionResult, error) {
	got := s.store.result(r.ActionDigest)
	if got == nil {
		return nil, status.Error(codes.NotFound, "no result")
	}
	return s.inline(got, r.InlineOutputFiles), nil
}

// inline returns a result with the outputs that the client wants sent along.
func (s *Server) inline(r *repb.ActionResult, want []string) *repb.ActionResult {
	if s.opt.NoInline {
		return r
	}
	out := &repb.ActionResult{ExitCode: r.ExitCode, StderrRaw: r.StderrRaw}
	for _, f := range r.OutputFiles {
		one := &repb.OutputFile{Path: f.Path, Digest: f.Digest}
		for _, w := range want {
			if w == f.Path {
				one.Contents, _ = s.store.get(f.Digest.Hash)
			}
		}
		out.OutputFiles = append(out.OutputFiles, one)
	}
	return out
}

// UpdateActionResult implements ActionCache.
func (s *Server) UpdateActionResult(_ context.Context, r *repb.UpdateActionResultRequest) (
	*repb.ActionResult, error) {
	if s.opt.ReadOnly {
		return nil, status.Error(codes.PermissionDenied, "read-only")
	}
	for _, f := range r.ActionResult.OutputFiles {
		if _, ok := s.store.get(f.Digest.Hash); !ok {
			return nil, status.Error(codes.FailedPrecondition, "an output is not in the store")
		}
	}
	s.store.keep(r.ActionDigest, r.ActionResult)
	return r.ActionResult, nil
}

// FindMissingBlobs implements ContentAddressableStorage.
func (s *Server) FindMissingBlobs(_ context.Context, r *repb.FindMissingBlobsRequest) (
	*repb.FindMissingBlobsResponse, error) {
	out := new(repb.FindMissingBlobsResponse)
	for _, d := range r.BlobDigests {
		if _, ok := s.store.get(d.Hash); !ok {
			out.MissingBlobDigests = append(out.MissingBlobDigests, d)
		}
	}
	return out, nil
}

// store checks a blob that a client sends and stores it.
func (s *Server) accept(d *repb.Digest, data []byte) error {
	if int64(len(data)) != d.GetSizeBytes() || s.store.put(data).Hash != d.GetHash() {
		return status.Errorf(codes.InvalidArgument, "%d bytes do not have the digest %s", len(data), d)
	}
	return nil
}

// BatchUpdateBlobs implements ContentAddressableStorage.
func (s *Server) BatchUpdateBlobs(_ context.Context, r *repb.BatchUpdateBlobsRequest) (
	*repb.BatchUpdateBlobsResponse, error) {
	out := new(repb.BatchUpdateBlobsResponse)
	total := int64(0)
	for _, one := range r.Requests {
		if total += int64(len(one.Data)); total > s.opt.MaxBatch {
			return nil, status.Error(codes.InvalidArgument, "the batch is too large")
		}
		st, _ := status.FromError(s.accept(one.Digest, one.Data))
		out.Responses = append(out.Responses, &repb.BatchUpdateBlobsResponse_Response{
			Digest: one.Digest, Status: st.Proto()})
	}
	return out, nil
}

// BatchReadBlobs implements ContentAddressableStorage.
func (s *Server) BatchReadBlobs(_ context.Context, r *repb.BatchReadBlobsRequest) (
	*repb.BatchReadBlobsResponse, error) {
	out := new(repb.BatchReadBlobsResponse)
	for _, d := range r.Digests {
		data, ok := s.store.get(d.Hash)
		st := status.New(codes.OK, "")
		if !ok {
			st = status.New(codes.NotFound, "no such blob")
		}
		out.Responses = append(out.Responses, &repb.BatchReadBlobsResponse_Response{
			Digest: d, Data: data, Status: st.Proto()})
	}
	return out, nil
}

// resource reads "[INSTANCE/][uploads/ID/]blobs/HASH/SIZE".
func (s *Server) resource(name string) (*repb.Digest, error) {
	wrong := status.Errorf(codes.InvalidArgument, "resource name %q", name)
	if s.opt.Instance != "" {
		rest, ok := strings.CutPrefix(name, s.opt.Instance+"/")
		if !ok {
			return nil, wrong
		}
		name = rest
	}
	parts := strings.Split(name, "/")
	if len(parts) == 5 && parts[0] == "uploads" {
		parts = parts[2:]
	}
	if len(parts) != 3 || parts[0] != "blobs" {
		return nil, wrong
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return nil, wrong
	}
	return &repb.Digest{Hash: parts[1], SizeBytes: size}, nil
}

// Write implements ByteStream.
func (s *Server) Write(stream bytestream.ByteStream_WriteServer) error {
	var d *repb.Digest
	var data []byte
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if d == nil {
			if d, err = s.resource(m.ResourceName); err != nil {
				return err
			}
		}
		if m.WriteOffset != int64(len(data)) {
			return status.Errorf(codes.InvalidArgument, "offset %d after %d bytes", m.WriteOffset, len(data))
		}
		if data = append(data, m.Data...); m.FinishWrite {
			break
		}
	}
	if err := s.accept(d, data); err != nil {
		return err
	}
	s.Counts.Streamed.Add(1)
	return stream.SendAndClose(&bytestream.WriteResponse{CommittedSize: int64(len(data))})
}

// Read implements ByteStream.
func (s *Server) Read(r *bytestream.ReadRequest, stream bytestream.ByteStream_ReadServer) error {
	d, err := s.resource(r.ResourceName)
	if err != nil {
		return err
	}
	data, ok := s.store.get(d.Hash)
	if !ok {
		return status.Error(codes.NotFound, "no such blob")
	}
	for len(data) > 0 {
		n := min(len(data), 1<<16)
		if err := stream.Send(&bytestream.ReadResponse{Data: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// errKilled is the cause of a command whose worker was killed.
var errKilled = errors.New("the worker was killed")

// KillWorkers kills the commands that run, as if their workers had lost power, and returns how many.
// Their operations end with UNAVAILABLE, as those of a scheduler that misses a worker.
func (s *Server) KillWorkers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.running {
		cancel(errKilled)
	}
	return len(s.running)
}

// Running returns how many commands run.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// BreakStreams ends the streams of all operations without a result; the operations go on.
func (s *Server) BreakStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, op := range s.operations {
		close(op.broken)
		op.broken = make(chan struct{})
	}
}

// name returns a new name of an operation.
func (s *Server) name() string {
	s.number++
	return fmt.Sprintf("operations/%d-%d", time.Now().UnixNano(), s.number)
}
