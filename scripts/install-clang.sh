#!/bin/sh
# Installs clang, opt and llc of LLVM 14 or later with the system's package manager, unless they are
# already installed, and with them the C and C++ library that heddle exec builds programs with. Prints
# what it installs. Exits 1 with advice if it cannot.
set -u

have() { command -v "$1" >/dev/null 2>&1; }

# usable N: succeeds if clang-N, opt-N and llc-N are all installed.
usable() { have "clang-$1" && have "opt-$1" && have "llc-$1"; }

# library: succeeds if clang finds a C++ library, by the place where it searches on Linux.
library() { ls /usr/include/c++/*/vector >/dev/null 2>&1 || [ "$(uname)" = Darwin ]; }

for n in 19 22 21 20 18 17 16 15 14; do
	if usable "$n" && library; then exit 0; fi
done
if have clang && have opt && have llc && library; then
	major=$(clang -dumpversion | cut -d. -f1)
	if [ "${major:-0}" -ge 14 ]; then exit 0; fi
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if have sudo; then as_root=sudo; else
		echo "heddle: clang, opt and llc (LLVM 14 or later) are not installed; install them as root" \
			"(Debian, Ubuntu: apt-get install clang-19 llvm-19)" >&2
		exit 1
	fi
fi

if have apt-get; then
	$as_root apt-get update -qq || exit 1
	for n in 19 22 21 20 18 17 16 15 14; do
		if apt-cache show "clang-$n" >/dev/null 2>&1 && apt-cache show "llvm-$n" >/dev/null 2>&1; then
			echo "heddle: installing clang-$n, llvm-$n and g++ with apt-get"
			DEBIAN_FRONTEND=noninteractive exec $as_root apt-get install -y -qq \
				--no-install-recommends "clang-$n" "llvm-$n" libc6-dev g++
		fi
	done
elif have dnf; then
	echo "heddle: installing clang, llvm and g++ with dnf"
	exec $as_root dnf install -y clang llvm glibc-devel gcc-c++
elif have pacman; then
	echo "heddle: installing clang, llvm and gcc with pacman"
	exec $as_root pacman -S --noconfirm clang llvm gcc
elif have apk; then
	echo "heddle: installing clang, llvm and g++ with apk"
	exec $as_root apk add clang llvm g++ musl-dev
elif have brew; then
	echo "heddle: installing llvm with brew"
	exec brew install llvm
fi
echo "heddle: found neither clang 14 or later nor a known package manager;" \
	"install clang, opt and llc of LLVM 14 or later (LLVM 19 is tested most)" >&2
exit 1
