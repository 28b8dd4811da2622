# ./dev test: every part prints its runner's own summary and adds to one count at the end.

passed=0; failed=0; skipped=0

add_counts() { passed=$((passed + $1)); failed=$((failed + $2)); skipped=$((skipped + $3)); }

# count_step NAME COMMAND...: one check without a count of its own.
count_step() {
  local name=$1; shift
  if "$@"; then add_counts 1 0 0; else add_counts 0 1 0; printf 'FAILED: %s\n' "$name"; fi
}

# run_ctest DIRECTORY [ctest options]
run_ctest() {
  local directory=$1 log; shift
  log="build/logs/ctest-$(basename "$directory").log"
  mkdir -p build/logs build/results
  (cd "$directory" && ctest --output-on-failure -j "$(nproc)" --timeout 600 \
    --output-junit "$OLDPWD/build/results/ctest-$(basename "$directory").xml" "$@") > "$log" 2>&1 || true
  grep -E '^(The following tests FAILED|.*\*\*\*Failed|.*\(Failed\)|.*\(Timeout\))' "$log" || true
  local total bad
  total=$(sed -n 's/^.*% tests passed, .* tests failed out of \([0-9]*\).*/\1/p' "$log")
  bad=$(sed -n 's/^.*% tests passed, \([0-9]*\) tests failed out of .*/\1/p' "$log")
  if [ -z "$total" ]; then tail -n 20 "$log"; add_counts 0 1 0; return; fi
  if [ "$bad" != 0 ]; then tail -n 60 "$log"; fi
  grep 'tests passed' "$log" || true
  local left_out
  left_out=$(grep -c '\*\*\*Skipped' "$log" || true)  # ctest counts them as passed
  add_counts $((total - bad - left_out)) "$bad" "$left_out"
}

# run_pytest VENV PATHS...: RESULTS names its log and results, in place of the first path
run_pytest() {
  local venv=$1 log name status=0; shift
  name=${RESULTS:-$(basename "$1")}
  log="build/logs/pytest-$name.log"
  mkdir -p build/logs
  MSPROBE_BUILD="$PWD/build" MSPROBE_CLI="${MSPROBE_CLI:-$PWD/build/bin/msprobe}" MSPROBE_STRICT=1 "$venv/bin/python" -m pytest -q -rfEs --color=no \
    --junitxml "build/results/pytest-$name.xml" "$@" 2>&1 \
    | tee "$log" | { grep -vE '^[.sxFE]+ *\[ *[0-9]+%\]$' || true; } || status=$?
  local line
  line=$(tail -n 1 "$log")
  if ! grep -qE '(passed|failed|error|skipped)' <<<"$line"; then add_counts 0 1 0; return; fi
  number_of() { sed -n "s/.*[^0-9]\([0-9]*\) $1.*/\1/p" <<<" $line" | head -n 1; }
  local p f e s
  p=$(number_of passed); f=$(number_of failed); e=$(number_of error); s=$(number_of skipped)
  f=$(( ${f:-0} + ${e:-0} ))
  if [ "$status" != 0 ] && [ "$f" = 0 ]; then f=1; printf 'FAILED: pytest %s ended with status %d\n' "$name" "$status"; fi
  add_counts "${p:-0}" "$f" "${s:-0}"
}

test_cpp() {
  setup_core; setup_web_dist
  say "C++ tests (release)"
  configure_and_build build all -DCMAKE_BUILD_TYPE=Release -DMSPROBE_BENCH=ON
  run_ctest build
}

test_sanitizers() {
  setup_core
  say "C++ tests under ASan and UBSan"
  configure_and_build build-asan all -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMSPROBE_SANITIZE=address,undefined
  run_ctest build-asan
  say "C++ tests under TSan"
  configure_and_build build-tsan "msprobe_base_test msprobe_dump_test msprobe_compare_test msprobe_viewer_test" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMSPROBE_SANITIZE=thread
  local program
  for program in base dump compare viewer; do
    count_step "tsan $program" env TSAN_OPTIONS=halt_on_error=1 "build-tsan/bin/msprobe_${program}_test" --gtest_brief=1
  done
}

# Some seconds over the kept inputs; a minute and more is counted in docs/robustness.md.
test_fuzz() {
  setup_test
  say "fuzzers, ${FUZZ_SECONDS:-8} seconds each"
  configure_and_build build-fuzz fuzzers -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMSPROBE_FUZZ=ON -DMSPROBE_TESTS=OFF
  local record=() line p total log=build/logs/fuzz.log
  [ "${FUZZ_SECONDS:-8}" -lt 60 ] || record=(--record)
  mkdir -p build/logs
  /usr/bin/python3 tools/fuzz_run.py --seconds "${FUZZ_SECONDS:-8}" "${record[@]}" | tee "$log" || true
  line=$(tail -n 1 "$log")
  read -r p total < <(sed -n 's/^\([0-9]*\) of \([0-9]*\) fuzzers found nothing.*/\1 \2/p' <<<"$line") || true
  if [ -z "${total:-}" ]; then add_counts 0 1 0; else add_counts "$p" $((total - p)) 0; fi
}

test_wheel() {
  dev_wheel
  say "the wheel in an empty environment"
  run_pytest .venv tests/wheel
}

# The oldest torch that installs here: tools/packages/python-torch-oldest.txt.
test_torch_oldest() {
  setup_core
  setup_venv .venv-torch-oldest tools/packages/python-torch-oldest.txt
  setup_web_dist
  install_package .venv-torch-oldest
  dev_build
  say "Python tests with the oldest PyTorch"
  RESULTS=torch-oldest run_pytest .venv-torch-oldest tests/python
}

# The collector under real torch, with its extension module built for sanitizers.
test_sanitized_python() {
  setup_python
  say "the collector under ASan and UBSan"
  local directory=build-asan-python
  configure_and_build "$directory" msprobe_core -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMSPROBE_PYTHON=ON \
    -DMSPROBE_TESTS=OFF -DMSPROBE_SANITIZE=address,undefined -DPython_EXECUTABLE="$PWD/.venv/bin/python"
  rm -rf "$directory/package"
  mkdir "$directory/package"
  cp -r python/msprobe "$directory/package/"
  find "$directory" -name '_core.*.so' -not -path '*/package/*' -exec cp {} "$directory/package/msprobe/" \;
  # Python itself never frees all it has; libstdc++ has to be there before its exceptions are watched.
  RESULTS=sanitized-python PYTHONPATH="$PWD/$directory/package" ASAN_OPTIONS=detect_leaks=0 \
    LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" \
    run_pytest .venv tests/python/test_{changed_while_recorded,config,debugger,deferred,distributed,ending_threads,gradients,kept}.py \
      tests/python/test_{kept_by_modules,listed,odd_values,recorded,same_names,seed,tool_errors,two_names,unchanged}.py
}

# clang-tidy takes as long as all other parts together: ./dev lint alone runs it.
test_lint() { count_step lint ./dev lint --quick; }

test_golden() {
  setup_python; dev_build
  say "golden, interoperation, plugin, C++ package, instruction, dependency and tool tests"
  local folder
  for folder in tests/golden tests/interop tests/plugin tests/cpp_package tests/instructions tests/dependencies tests/tools; do
    run_pytest .venv "$folder"
  done
}

test_python() {
  setup_python; dev_build
  say "Python tests with PyTorch"
  run_pytest .venv tests/python
}

test_mindspore() {
  setup_mindspore; setup_mindspore_latest; dev_build
  say "Python tests with MindSpore 2.7 and MSAdapter"
  run_pytest .venv-mindspore tests/mindspore
  say "Python tests with MindSpore 2.10"
  run_pytest .venv-mindspore-2.10 tests/mindspore -k plain
}

test_web() {
  setup_web
  say "front end: types and unit tests"
  local log=build/logs/vitest.log line p f status=0
  mkdir -p build/logs
  (cd web && npm run --silent test) 2>&1 | tee "$log" | tail -n 15 || status=$?
  line=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | { grep -E '^ *Tests ' || true; } | tail -n 1)
  p=$(sed -n 's/.* \([0-9]*\) passed.*/\1/p' <<<"$line"); f=$(sed -n 's/.* \([0-9]*\) failed.*/\1/p' <<<"$line")
  # Also where types are wrong, or a file of tests cannot be loaded.
  if [ "$status" != 0 ] && [ "${f:-0}" = 0 ]; then f=1; fi
  if [ -z "$p$f" ]; then add_counts 0 1 0; else add_counts "${p:-0}" "${f:-0}" 0; fi
}

test_browser() {
  setup_test; setup_python; dev_build
  say "server and browser tests"
  local folder
  for folder in tests/server tests/browser; do
    run_pytest .venv "$folder"
  done
}

# After the other parts: its snippets need both Python environments.
test_docs() {
  setup_python; setup_mindspore; dev_build
  say "snippets of the documentation"
  run_pytest .venv tests/docs
}

dev_test() {
  local parts=("$@") part start=$SECONDS
  # The other parts build the core again and install more: by name, or in ./dev soak.
  [ $# -gt 0 ] || parts=(lint cpp fuzz golden python mindspore web browser docs)
  [ $# -gt 0 ] || setup_test
  for part in "${parts[@]}"; do
    case "$part" in
      cpp|lint|fuzz|golden|python|mindspore|web|browser|docs) "test_$part" ;;
      sanitizers|wheel|torch-oldest|sanitized-python) "test_${part//-/_}" ;;
      *) die "no test part '$part'; there are cpp lint fuzz golden python mindspore web browser docs" \
             "sanitizers wheel torch-oldest sanitized-python" ;;
    esac
    printf '(%d s so far: %d passed, %d failed, %d skipped)\n' $((SECONDS - start)) "$passed" "$failed" "$skipped"
  done
  if [ $# -eq 0 ]; then say "the known faults and their tests"; count_step faults /usr/bin/python3 tools/faults_table.py --check; fi
  say "all parts: ${parts[*]}"
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

dev_faults() { /usr/bin/python3 tools/faults_table.py; }

dev_ci() { dev_demo --no-serve; dev_test; }

dev_coverage() {
  setup_python; dev_build
  say "tests that count the lines they run"
  configure_and_build build-coverage all -DCMAKE_BUILD_TYPE=Debug -DMSPROBE_COVERAGE=ON
  find build-coverage -name '*.gcda' -delete
  run_ctest build-coverage
  local folder
  for folder in tests/golden tests/server; do
    MSPROBE_CLI="$PWD/build-coverage/bin/msprobe" run_pytest .venv "$folder"
  done
  /usr/bin/python3 tools/coverage_table.py build-coverage
}

dev_soak() {
  say "soak: sanitizers, the wheel, the oldest torch, long fuzzing and repeated tests"
  test_sanitizers
  test_sanitized_python
  test_wheel
  test_torch_oldest
  FUZZ_SECONDS=${FUZZ_SECONDS:-1800} test_fuzz
  setup_python; dev_build
  run_pytest .venv tests/soak
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" = 0 ]
}
