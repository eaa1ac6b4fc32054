#!/bin/sh
# Makes sure that a clang that heddle can use (>= 14, with opt and llc) is there; installs one with the
# system's package manager, after saying so, if none is. Exits 1 with advice if it cannot.
set -u

have() { command -v "$1" >/dev/null 2>&1; }

# usable N: clang-N, opt-N and llc-N are all there.
usable() { have "clang-$1" && have "opt-$1" && have "llc-$1"; }

for n in 19 22 21 20 18 17 16 15 14; do
	if usable "$n"; then exit 0; fi
done
if have clang && have opt && have llc; then
	major=$(clang -dumpversion | cut -d. -f1)
	if [ "${major:-0}" -ge 14 ]; then exit 0; fi
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if have sudo; then as_root=sudo; else
		echo "heddle: clang, opt and llc (LLVM >= 14) are missing; install them as root (Debian: apt-get install clang-19 llvm-19)" >&2
		exit 1
	fi
fi

if have apt-get; then
	$as_root apt-get update -qq || exit 1
	for n in 19 22 21 20 18 17 16 15 14; do
		if apt-cache show "clang-$n" >/dev/null 2>&1 && apt-cache show "llvm-$n" >/dev/null 2>&1; then
			echo "heddle: installing clang-$n and llvm-$n with apt-get"
			DEBIAN_FRONTEND=noninteractive exec $as_root apt-get install -y -qq --no-install-recommends "clang-$n" "llvm-$n"
		fi
	done
elif have dnf; then
	echo "heddle: installing clang and llvm with dnf"
	exec $as_root dnf install -y clang llvm
elif have pacman; then
	echo "heddle: installing clang and llvm with pacman"
	exec $as_root pacman -S --noconfirm clang llvm
elif have apk; then
	echo "heddle: installing clang and llvm with apk"
	exec $as_root apk add clang llvm
elif have brew; then
	echo "heddle: installing llvm with brew"
	exec brew install llvm
fi
echo "heddle: no clang >= 14 and no known package manager; install clang, opt and llc of LLVM 19" >&2
exit 1
