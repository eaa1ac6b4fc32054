# heddle: build, test and measure. Every target works on a machine with only Go and a package manager.

GO      ?= go
BIN     := bin/heddle
SOURCES := $(shell find cmd internal -name '*.go' -o -path '*/headers/*' -type f) go.mod go.sum

.PHONY: demo dist dockerfile docs explore-figures man site test test-long bench lint build clang optional fuzz mutants sarif vscode

build: $(BIN)

$(BIN): $(SOURCES)
	$(GO) build -o $@ ./cmd/heddle

# demo checks two examples: one with a race, and the same kernel without it.
demo: clang build
	@echo; echo '== examples/reduce_racy.cu: a barrier is missing'
	@$(BIN) check examples/reduce_racy.cu; test $$? -eq 1
	@echo; echo '== examples/reduce.cu: the same reduction with its barrier'
	@$(BIN) check examples/reduce.cu

clang:
	@sh scripts/install-clang.sh

# optional installs programs that only tests use: z3 checks the solver, chromium opens the HTML report,
# junitparser reads JUnit XML, and cmark-gfm renders Markdown. Tests without their program are skipped.
optional:
	@sh scripts/install-optional.sh z3
	@sh scripts/install-optional.sh chromium
	@sh scripts/install-optional.sh junitparser
	@sh scripts/install-optional.sh cmark-gfm

# The live heap of most tests is a few MB. With Go's default they collect garbage every 4 MB, which
# was most of their CPU: that of emu falls from 137 to 20 s, that of nodiff to 40 percent.
test test-long: export GOGC ?= 400

# test is the target of .ci/run. The race detector makes tests ten times as slow: with -short,
# tables are small samples, and of lower only what has goroutines or shares files with other
# processes runs.
TEST := $(GO) test -vet=off -timeout 30m
RACE := $(TEST) -race -short
test: clang optional lint
	$(TEST) ./...
	$(RACE) ./internal/source ./internal/event ./internal/race ./internal/emu/... \
	  ./internal/check/... ./internal/driver ./internal/engine/... ./internal/command/...
	$(RACE) -run 'Prelude|Cache|Cancel|Temporary|OmitFailing' ./internal/lower

# lint fails on unformatted code, on findings of vet and staticcheck, and on an untidy go.mod.
lint:
	@out=$$(gofmt -s -l cmd internal examples); test -z "$$out" || { echo "not gofmt -s clean: $$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

# test-long adds tests that take minutes: many seeds, long property tests, fuzzing, and mutants.
test-long: clang optional
	HEDDLE_LONG=1 $(GO) test -timeout 60m ./...
	$(MAKE) fuzz FUZZTIME=60s
	$(MAKE) mutants

# sarif holds the SARIF of all examples against the OASIS schema and the rules of GitHub's code scanning,
# by Microsoft's multitool, which npm brings. It fails on errors. Two warnings are expected: a module
# without a home has no site to name, and a build of a checkout has no version.
MULTITOOL := @microsoft/sarif-multitool-linux@5.7.0
sarif: clang build
	@mkdir -p bin/sarif; $(BIN) check --format sarif examples/*.cu > bin/sarif/examples.sarif; test $$? -eq 1
	@npm install --silent --prefix bin/sarif $(MULTITOOL)
	@chmod u+x bin/sarif/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool
	DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 \
	  bin/sarif/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool validate \
	  bin/sarif/examples.sarif --rule-kind 'Sarif;Ghas' --output bin/sarif/results.sarif \
	  --log ForceOverwrite > bin/sarif/log
	@cat bin/sarif/log; ! grep ': error ' bin/sarif/log

# dockerfile lints the Dockerfile without docker: dockerfile-utils, the checks of editors, knows the syntax
# of each instruction, and dockerfilelint what an image should not do. It fails on any remark.
DOCKERFILE ?= Dockerfile
LINTERS := dockerfile-utils@0.16.3 dockerfilelint@1.8.0
dockerfile:
	@npm install --silent --ignore-scripts --prefix bin/dockerfile $(LINTERS)
	@out=$$(bin/dockerfile/node_modules/.bin/dockerfile-utils lint $(DOCKERFILE)) && test -z "$$out" || \
	  { echo "$$out"; exit 1; }
	bin/dockerfile/node_modules/.bin/dockerfilelint $(DOCKERFILE)

# mutants changes conditions of the packages that decide verdicts, 40 in each, and fails if the tests
# notice fewer than 90 percent; see cmd/mutate. SEED=2 draws others.
SEED ?= 1
mutants: clang
	$(GO) run ./cmd/mutate -seed $(SEED)

# fuzz runs every fuzz test for FUZZTIME.
FUZZTIME ?= 20s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; done

# docs runs the commands in the documents and writes their output there. Tests check that the output
# is current.
docs: clang
	$(GO) test ./cmd/heddle -run "TestDocs|TestCommandsDoc|TestGlossaryDoc|TestVerdictsDoc|TestExampleReports|TestCodeExamples" -update

# explore-figures runs the long comparisons of heddle explore: brute force on 10,000 programs,
# symmetry, the suite, the tables of executions and of kernels, and Dat3M's results if HEDDLE_DAT3M
# names a checkout of it.
explore-figures: clang
	HEDDLE_LONG=1 $(GO) test ./internal/explore ./internal/engine/exhaustive -v -timeout 6h \
		-run 'Test(BruteForce|Symmetry|Replay|Dat3M|Figures|SuiteBugs|Table|SuiteClean)'

# man writes the manual pages to share/man/man1 below DESTDIR, or below the current directory.
man: build
	$(BIN) man $(DESTDIR)share/man/man1

# site renders the documents as a web site into SITE, and fails on links that lead nowhere. It replaces a
# site that is there.
SITE ?= dist/site
site:
	$(GO) run ./cmd/site -o $(SITE)

# dist builds what a release consists of below dist/: programs for six platforms, archives, packages,
# checksums and bills of materials. For a checkout of a tag without changes its name is that of the tag.
# It publishes nothing.
GORELEASER ?= $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.1
TAGGED = $(shell git describe --exact-match --tags --match 'v*' --dirty 2>/dev/null | grep -v dirty)
dist:
	$(GORELEASER) release --clean $(if $(TAGGED),--skip=publish,--snapshot)

# vscode builds the extension for Visual Studio Code, editors/vscode/heddle.vsix, and tests it with this
# heddle. It needs node 20 and npm, which brings what package-lock.json pins; no script of a package runs.
vscode: clang build
	cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund
	cd editors/vscode && npm run package
	cd editors/vscode && HEDDLE="$(abspath $(BIN))" npm test

# bench prints the performance figures of heddle; see cmd/bench.
bench: clang build
	$(GO) run ./cmd/bench
