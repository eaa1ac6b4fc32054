#!/bin/sh
# release-notes.sh TAG: prints the section of CHANGELOG.md for a tag such as v1.2.3. It fails if there is
# none: a release says what is new.
set -eu
version=${1#v}
notes=$(awk -v head="## [$version]" '
	index($0, head) == 1 { on = 1; next }
	on && /^## \[/ { exit }
	on { print }' "$(dirname "$0")/../CHANGELOG.md")
if [ -z "$(printf %s "$notes" | tr -d '[:space:]')" ]; then
	echo "release-notes.sh: CHANGELOG.md has no section \"## [$version]\" with text" >&2
	exit 1
fi
printf '%s\n' "$notes"
