#!/bin/sh
# Installs z3, against which the tests hold the solver of our own. heddle works without it, and the tests skip
# what needs it, so that a machine that cannot install it is told so and goes on.
set -u
if command -v z3 >/dev/null 2>&1; then exit 0; fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null 2>&1; then as_root=sudo; else
		echo "heddle: no z3; tests that compare with it are skipped" >&2
		exit 0
	fi
fi
for how in "apt-get install -y -qq --no-install-recommends" "dnf install -y" "pacman -S --noconfirm" "apk add" "brew install"; do
	tool=${how%% *}
	if command -v "$tool" >/dev/null 2>&1; then
		echo "heddle: installing z3 with $tool"
		if [ "$tool" = apt-get ]; then $as_root apt-get update -qq; fi
		# shellcheck disable=SC2086
		DEBIAN_FRONTEND=noninteractive $as_root $how z3 >/dev/null && exit 0
		break
	fi
done
echo "heddle: z3 cannot be installed; tests that compare with it are skipped" >&2
exit 0
