#!/bin/sh
# Runs Buildbarn on this machine, with two workers, until it is interrupted:
#
#	sh run.sh BIN DIR
#
# BIN has the programs bb_storage, bb_scheduler, bb_worker and bb_runner, and DIR receives the data
# and the logs. Then: heddle check --remote grpc://127.0.0.1:8980 --remote-property OSFamily=linux
# DIR/NAME.pid has the id of each process. It starts again with that data.
set -eu
bin=$(cd "$1" && pwd)
mkdir -p "$2"
dir=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

export STORAGE=127.0.0.1:8980 STORAGE_LISTEN=127.0.0.1:8980 DATA="$dir"
export SCHEDULER_CLIENTS=127.0.0.1:8982 SCHEDULER_CLIENTS_LISTEN=127.0.0.1:8982
export SCHEDULER_WORKERS=127.0.0.1:8983 SCHEDULER_WORKERS_LISTEN=127.0.0.1:8983
export CORES="${CORES:-1}" NAME= WORKER=

start() { # NAME PROGRAM CONFIGURATION
	"$bin/$2" "$here/$3" >"$dir/$1.log" 2>&1 &
	echo $! >"$dir/$1.pid"
	all="$all $!"
}
all=
trap 'kill $all 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

mkdir -p "$dir/cas/state" "$dir/ac/state"
start storage bb_storage storage.jsonnet
start scheduler bb_scheduler scheduler.jsonnet
for n in 1 2; do
	NAME=$n WORKER="$dir/worker$n"
	rm -rf "$WORKER"
	mkdir -p "$WORKER/build" "$WORKER/cache"
	start "runner$n" bb_runner runner.jsonnet
	start "worker$n" bb_worker worker.jsonnet
done
wait
