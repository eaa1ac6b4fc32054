# heddle: build, check and measure. Every target works on a machine that has only Go and a package manager.

GO      ?= go
BIN     := bin/heddle
SOURCES := $(shell find cmd internal -name '*.go' -o -path '*/headers/*' -type f) go.mod go.sum

.PHONY: demo docs man test test-long bench lint build clang optional fuzz

build: $(BIN)

$(BIN): $(SOURCES)
	$(GO) build -o $@ ./cmd/heddle

# demo checks two examples: one with a planted race, one without.
demo: clang build
	@echo; echo '== examples/reduce_racy.cu: a barrier is missing'
	@$(BIN) check examples/reduce_racy.cu; test $$? -eq 1
	@echo; echo '== examples/reduce.cu: the same reduction with its barrier'
	@$(BIN) check examples/reduce.cu

clang:
	@sh scripts/install-clang.sh

# z3 is a second opinion for the tests of the solver, chromium opens the HTML report in them, junitparser reads JUnit XML.
optional:
	@sh scripts/install-optional.sh z3
	@sh scripts/install-optional.sh chromium
	@sh scripts/install-optional.sh junitparser

# test is what .ci/run runs.
test: clang optional lint
	$(GO) test ./...
	$(GO) test -race -short ./internal/source ./internal/event ./internal/race ./internal/emu/... ./internal/check/... ./internal/lower

lint:
	@out=$$(gofmt -s -l cmd internal); test -z "$$out" || { echo "not gofmt -s clean: $$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

# test-long adds what takes minutes: many seeds, long property runs, fuzzing.
test-long: clang optional
	HEDDLE_LONG=1 $(GO) test -timeout 60m ./...
	$(MAKE) fuzz FUZZTIME=60s

FUZZTIME ?= 20s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; done

# docs runs the commands that the documents show, and writes what they print into them. The tests check that it is current.
docs: clang
	$(GO) test ./cmd/heddle -run "TestDocs|TestCommandsDoc|TestGlossaryDoc|TestVerdictsDoc|TestExampleReports" -update

# man writes the manual pages to share/man/man1 below DESTDIR, or here.
man: build
	$(BIN) man $(DESTDIR)share/man/man1

bench: clang build
	$(GO) run ./cmd/bench
