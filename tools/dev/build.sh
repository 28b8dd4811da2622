# ./dev build, demo, fmt, lint.

# configure_and_build DIRECTORY TARGETS CMAKE_OPTIONS...
configure_and_build() {
  local directory=$1 targets=$2; shift 2
  local log="build/logs/$(basename "$directory")-cmake.log"
  mkdir -p build/logs
  if [ ! -f "$directory/build.ninja" ]; then
    run_quietly "$log" cmake -S . -B "$directory" -G Ninja "$@"
  fi
  # shellcheck disable=SC2086
  cmake --build "$directory" --target $targets
}

dev_build() {
  setup_core
  setup_web_dist
  say "building build/bin/msprobe (release)"
  configure_and_build build msprobe -DCMAKE_BUILD_TYPE=Release
}

dev_demo() {
  local serve=yes
  case "${1:-}" in
    '') ;;
    --no-serve) serve=no ;;
    *) die "demo knows --no-serve only, not '$1'" ;;
  esac
  dev_build
  say "comparing examples/sample/target with examples/sample/golden"
  rm -rf build/demo
  build/bin/msprobe graph examples/sample/target examples/sample/golden -o build/demo
  if [ "$serve" = yes ]; then
    say "the viewer (Ctrl-C ends it)"
    exec build/bin/msprobe view build/demo
  fi
}

cpp_files() { git ls-files --cached --others --exclude-standard '*.cc' '*.h' | grep -E '^(src|include|fuzz|bench|python|tests|examples)/'; }

dev_fmt() {
  setup_test
  say "formatting C++"
  cpp_files | xargs -r clang-format-19 -i
  setup_web
  say "formatting the front end"; (cd web && npm run --silent fmt)
}

# clang-tidy is slow: a file is looked at again only when it or any header changed.
lint_tidy() {
  local stamp=build/tidy file key headers
  [ -f build/compile_commands.json ] || configure_and_build build help -DCMAKE_BUILD_TYPE=Release >/dev/null
  mkdir -p "$stamp"
  headers=$(git ls-files --cached --others --exclude-standard '*.h' | xargs cat .clang-tidy | sha256sum)
  cpp_files | grep -E '^src/.*\.cc$' | grep -v '_test\.cc$' | while read -r file; do
    key=$(printf '%s' "$headers" | cat - "$file" | sha256sum | cut -c1-32)
    [ -f "$stamp/$key" ] || echo "$key $file"
  done | xargs -r -P "$(nproc)" -L 1 bash -c '
    clang-tidy-19 --quiet -p build --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null && touch "build/tidy/$0"'
}

dev_lint() {
  case "${1:-}" in
    '' | --quick) ;;
    *) die "lint knows --quick only, not '$1'" ;;
  esac
  setup_test
  mkdir -p build/logs
  say "layers";      /usr/bin/python3 tools/check_layers.py
  say "dependencies"; /usr/bin/python3 tools/dependencies.py audit
  say "file sizes";  /usr/bin/python3 tools/check_sizes.py
  say "tests of the known faults"; /usr/bin/python3 tools/faults_table.py --names
  say "formatting";  cpp_files | xargs -r clang-format-19 --dry-run --Werror
  setup_web
  say "front end";   (cd web && npm run --silent lint)
  if [ "${1:-}" != --quick ]; then say "clang-tidy"; lint_tidy; fi
}
