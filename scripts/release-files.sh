#!/bin/sh
# release-files.sh VERSION TIME: writes to bin/release what a release has besides programs: manual pages
# (plain for archives, compressed for packages), completions for shells, and all licences. TIME is that of
# the release in seconds since 1970, for the date in the manual pages.
set -eu
cd "$(dirname "$0")/.."
version=$1 out=bin/release
export SOURCE_DATE_EPOCH="$2"

# For this machine, whatever is built next.
unset GOOS GOARCH
rm -rf "$out"
mkdir -p "$out/completions" "$out/man" "$out/man.gz"
go build -trimpath -buildvcs=false -ldflags "-X main.version=$version" -o "$out/heddle" ./cmd/heddle
"$out/heddle" man "$out/man"
for page in "$out"/man/*.1; do
	gzip -9n <"$page" >"$out/man.gz/$(basename "$page").gz"
done
"$out/heddle" completion bash >"$out/completions/heddle.bash"
"$out/heddle" completion zsh >"$out/completions/_heddle"
"$out/heddle" completion fish >"$out/completions/heddle.fish"
"$out/heddle" completion powershell >"$out/completions/heddle.ps1"
go run ./cmd/licenses >"$out/LICENSES.txt"
