# ./dev bench NAME...: each bench/bench_<name>.py measures and rewrites its table in docs/benchmarks.md.

dev_bench() {
  local names=("$@") name failed=()
  if [ $# -eq 0 ]; then
    mapfile -t names < <(find bench -maxdepth 1 -name 'bench_*.py' | sed 's,.*/bench_,,; s,\.py$,,' | sort)
  fi
  setup_python; dev_build
  for name in "${names[@]}"; do
    local script="bench/bench_${name//-/_}.py"
    [ -f "$script" ] || die "no benchmark '$name' ($script)"
    if [[ $name == *mindspore* ]]; then setup_mindspore; fi
    if [ "$name" = view ]; then setup_test; setup_web; fi
    say "benchmark: $name (keep the machine idle)"
    MSPROBE_CLI="$PWD/build/bin/msprobe" .venv/bin/python "$script" || failed+=("$name")
  done
  [ ${#failed[@]} = 0 ] || die "no new table for: ${failed[*]}"
}
