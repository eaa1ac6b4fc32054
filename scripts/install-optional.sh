#!/bin/sh
# install-optional.sh PROGRAM: installs a program that only tests use: z3, whose answers they compare with
# heddle's own solver, chromium, which opens the HTML report, junitparser, which reads JUnit XML, or
# cmark-gfm, which renders Markdown.
# heddle does not need these programs, and tests that do are skipped. So if the program cannot be
# installed, the script prints a message and succeeds.
set -u
program=$1
if command -v "$program" >/dev/null 2>&1; then exit 0; fi

# skip REASON: ends the script successfully.
skip() {
	echo "heddle: $program $1; tests that need it are skipped" >&2
	exit 0
}
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null 2>&1; then as_root=sudo; else skip "is not installed"; fi
fi
for how in "apt-get install -y -qq --no-install-recommends" "dnf install -y" "pacman -S --noconfirm" \
	"apk add" "brew install"; do
	tool=${how%% *}
	if command -v "$tool" >/dev/null 2>&1; then
		echo "heddle: installing $program with $tool"
		if [ "$tool" = apt-get ]; then $as_root apt-get update -qq; fi
		# shellcheck disable=SC2086
		DEBIAN_FRONTEND=noninteractive $as_root $how "$program" >/dev/null && exit 0
		break
	fi
done
skip "cannot be installed"
