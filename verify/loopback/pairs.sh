# shellcheck shell=bash
# Runs pairs of a server and a client as two processes over the loopback device. Sourced by the commands in this folder.
#
# The library path alone selects the device. Ports are in a folder of the run, so that nothing else on the machine meets them.

here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
# Seconds that one process may take: enough for a busy machine.
limit=60
failures=0
runs=0
server=

# refuse TEXT: wrong usage
refuse() {
  echo "${0##*/}: $*" >&2
  exit 2
}

clean_up() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}

# prepare ROUNDS: checks the number, builds the device, makes the folders
prepare() {
  [[ $1 =~ ^[1-9][0-9]{0,5}$ ]] || refuse "ROUNDS must be a number from 1 to 999999, not '$1'"
  rounds=$1
  make -s -C "$root/loopback/src/main/c" >/dev/null || refuse "the loopback device does not build"
  work=$(mktemp -d)
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  mkdir -m 700 "$work/ports"
  ulimit -c 0
  LD_LIBRARY_PATH=$root/loopback/target/classes/native/linux-$(uname -m)
  RINGPOLL_LOOPBACK_FOLDER=$work/ports
  export LD_LIBRARY_PATH RINGPOLL_LOOPBACK_FOLDER
  unset RINGPOLL_LOOPBACK_ALWAYS_REMOTE
}

# serve PORT COMMAND...: starts a server and waits until it listens, or has ended
serve() {
  local port=$1
  shift
  # What a killed server has left there would be taken for the next one.
  rm -f "$RINGPOLL_LOOPBACK_FOLDER/$port"
  timeout "$limit" "$@" </dev/null >"$work/server" 2>&1 &
  server=$!
  until [[ -S $RINGPOLL_LOOPBACK_FOLDER/$port ]] || ! kill -0 "$server" 2>/dev/null; do
    sleep 0.01
  done
}

# client COMMAND...: fails as the client does
client() {
  local output code=0
  output=$(timeout "$limit" "$@" </dev/null 2>&1) || code=$?
  ((code != 0)) || return 0
  echo "client ended with $code"
  echo "$output" | tail -n 12
  return 1
}

# await_server: waits for the end of the server, and fails as it does
await_server() {
  local code=0
  wait "$server" || code=$?
  server=
  ((code != 0)) || return 0
  echo "server ended with $code"
  tail -n 12 "$work/server"
  return 1
}

# stop_server: ends a server that serves forever
stop_server() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}

# repeat NAME COMMAND...: runs the command as often as wanted, and prints a line; the reason of the first failure goes to stderr
repeat() {
  local name=$1 failed=0 round
  shift
  for ((round = 0; round < rounds; round++)); do
    if ! "$@" >"$work/reason"; then
      ((failed++ > 0)) || sed "s|^|$name: |" "$work/reason" >&2
    fi
  done
  ((runs += rounds, failures += failed)) || true
  echo "$name: $((rounds - failed)) of $rounds"
}

# total: the last line; exit code 1 if a run has failed
total() {
  echo "total: $((runs - failures)) of $runs"
  ((failures == 0)) || exit 1
}
