# What every part of ./dev prints with.

say() { printf '\033[1m==> %s\033[0m\n' "$*"; }
die() { printf './dev: %s\n' "$*" >&2; exit 1; }

# run_quietly LOG COMMAND...: one line while all is well, the log's end when it fails.
run_quietly() {
  local log=$1; shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "failed: $* (whole log: $log)"
  fi
}

# up_to_date STAMP FILE...: true if STAMP holds the checksum of FILE...
up_to_date() {
  local stamp=$1; shift
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(checksum "$@")" ]
}
checksum() { cat "$@" | sha256sum | cut -d' ' -f1; }
mark_done() {
  local stamp=$1; shift
  mkdir -p "$(dirname "$stamp")"
  checksum "$@" > "$stamp"
}
