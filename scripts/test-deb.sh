#!/bin/sh
# test-deb.sh FILE.deb [SUITE]: installs a package on a clean root file system of Debian (default: bookworm),
# as apt does for a user, and runs there what docs/install.md proposes: heddle doctor, demo and init. It needs
# root, mmdebstrap, and Debian's archive. Nothing of this machine is in the root file system but the package.
set -eu
deb=$1 suite=${2:-bookworm}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mmdebstrap --quiet --variant=apt --include=ca-certificates "$suite" "$root/fs"
cp "$deb" "$root/fs/tmp/heddle.deb"

# in_root runs a command in the root file system as a user would, with an environment of its own.
in_root() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		TERM=dumb chroot "$root/fs" "$@"
}

in_root apt-get update -qq
in_root apt-get install -y -qq --no-install-recommends /tmp/heddle.deb >"$root/log" 2>&1 ||
	{ cat "$root/log"; exit 1; }
echo "== installed: $(in_root dpkg-query -W -f '${Package} ${Version}\n' 'heddle' 'clang*' 'llvm*' | tr '\n' ' ')"
in_root heddle version
echo "== heddle doctor"
in_root heddle doctor
echo "== heddle demo"
in_root heddle demo /root/tour
echo "== heddle init"
in_root sh -c 'cd /root/tour && heddle init && cat heddle.toml && heddle check --no-config reduce.cu'
in_root sh -c 'test -s /usr/share/man/man1/heddle-check.1.gz && test -s /usr/share/doc/heddle/copyright &&
	test -s /usr/share/bash-completion/completions/heddle'
in_root apt-get purge -y -qq heddle >/dev/null 2>&1
in_root sh -c '! command -v heddle' >/dev/null
echo "== removed"
