# heddle with clang, for continuous integration and to run code that is not trusted (docs/exec.md):
#
#   docker build -t heddle .
#   docker run --rm -v "$PWD:/src:ro" heddle heddle check ./...
FROM golang:1.26-bookworm AS build
WORKDIR /heddle
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" \
      -o /out/heddle ./cmd/heddle \
 && go run ./cmd/licenses > /out/LICENSES.txt

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends clang-19 llvm-19 libc6-dev g++ git \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/heddle /usr/local/bin/heddle
COPY --from=build /out/LICENSES.txt /usr/share/doc/heddle/copyright
# The cache is the only thing that heddle writes.
ENV XDG_CACHE_HOME=/tmp
USER 65534:65534
WORKDIR /src
CMD ["heddle", "--help"]
