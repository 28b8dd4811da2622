# What the shell blocks of the documents run with.
set -euo pipefail

# ./dev COMMAND [NAME]: it must be one that ./dev knows; running it is what the other tests do.
dev_command() {
  grep -qE "^ +$1\)|^ +[a-z|]*\b$1\b[a-z|]*\)" "$ROOT/dev" || { echo "./dev has no command $1"; return 1; }
}

# Servers do not end: they must say where they are, then they are stopped.
serve_and_stop() {
  local log; log=$(mktemp)
  "$@" >"$log" 2>&1 &
  local server=$! tries=0
  until grep -q 'http://' "$log"; do
    kill -0 "$server" 2>/dev/null || { cat "$log"; return 1; }
    tries=$((tries + 1)); [ "$tries" -lt 600 ] || { cat "$log"; kill "$server"; return 1; }
    sleep 0.1
  done
  kill "$server"
  wait "$server" || true
}
msprobe() {
  case " $* " in
    *" --export "*) command msprobe "$@" ;;
    " view "*) serve_and_stop command msprobe "${@/--open/--port=0}" ;;
    # The documents show what a diverged comparison looks like.
    *" --fail-on "*) command msprobe "$@" || [ $? = 1 ] ;;
    *) command msprobe "$@" ;;
  esac
}
tensorboard() { serve_and_stop python -m tensorboard.main "$@" --port 0; }
# Installing, other machines and editors are not for a test.
pip() { :; }
ssh() { :; }
git() { :; }
