#!/usr/bin/env bash
# The step of action.yml that gets heddle. It writes the program of a release to the file that is the
# argument, after it has compared the checksum of the archive with SHA256SUMS. The environment variable
# DOWNLOAD is the input of the action: the URL of a directory with the files of a release. REPOSITORY
# and REF are those of the action; both are empty if it runs from a checkout.
#
# Writes to GITHUB_OUTPUT: from=release, or from=source if heddle must be built because there is no
# release; and cache=DIR, the directory of heddle's cache. A release that DOWNLOAD names must exist, and
# a wrong checksum is an error in any case.
set -euo pipefail
program=$1

# fail MESSAGE: ends the job.
fail() {
  echo "::error title=heddle::${1//[$'\r\n']/ }"
  exit 1
}

# missing WHY: heddle is built from source, unless the user has named a release.
missing() {
  if [ -n "${DOWNLOAD:-}" ]; then fail "$1"; fi
  echo "heddle: building it from source, because ${1//[$'\r\n']/ }"
  echo "from=source" >>"$GITHUB_OUTPUT"
  exit 0
}

# fetch NAME: downloads a file of the release.
fetch() {
  local status
  status=$(curl --silent --show-error --location --proto-redir =https --retry 3 \
    --output "$files/$1" --write-out '%{http_code}' -- "$base/$1") || true
  case $status in
  200) ;;
  404) missing "there is no $1 at $base" ;;
  *) missing "$base/$1 cannot be downloaded (HTTP status ${status:-000})" ;;
  esac
}

# checksum FILE: prints the SHA-256 sum of a file.
checksum() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

case $RUNNER_OS in
macOS) cache=$HOME/Library/Caches ;;
*) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;;
esac
echo "cache=$cache/heddle" >>"$GITHUB_OUTPUT"

if [ -n "${DOWNLOAD:-}" ]; then
  base=${DOWNLOAD%/}
elif [ -n "${REPOSITORY:-}" ] && [ -n "${REF:-}" ]; then
  base=$GITHUB_SERVER_URL/$REPOSITORY/releases/download/$REF
else
  missing "the action runs from a checkout"
fi
case $RUNNER_OS-$RUNNER_ARCH in
Linux-X64) platform=linux_amd64 ;;
Linux-ARM64) platform=linux_arm64 ;;
macOS-X64) platform=darwin_amd64 ;;
macOS-ARM64) platform=darwin_arm64 ;;
*) missing "no release has an archive for $RUNNER_OS on $RUNNER_ARCH" ;;
esac

files=$(mktemp -d "$RUNNER_TEMP/heddle-release.XXXXXX")
trap 'rm -rf "$files"' EXIT
fetch SHA256SUMS
line=$(grep -m 1 -E "^[0-9a-f]{64} [ *]heddle_[0-9A-Za-z.+~-]+_$platform\.tar\.gz$" "$files/SHA256SUMS") ||
  missing "SHA256SUMS at $base names no archive for $platform"
want=${line%% *}
archive=${line#*[ *][ *]}
fetch "$archive"
got=$(checksum "$files/$archive")
if [ "$got" != "$want" ]; then
  fail "$base/$archive has the checksum $got, and its SHA256SUMS says $want: it was not unpacked"
fi
tar -xzf "$files/$archive" -C "$files" "${archive%.tar.gz}/heddle"
mv "$files/${archive%.tar.gz}/heddle" "$program"
echo "heddle: $archive from $base, whose checksum is right"
echo "from=release" >>"$GITHUB_OUTPUT"
