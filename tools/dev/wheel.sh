# ./dev wheel: a wheel that brings along the libraries that not every Linux has, in build/wheel.

dev_wheel() {
  setup_python
  setup_venv .cache/wheel-tools tools/packages/python-wheel.txt
  say "building the wheel"
  rm -rf build/wheel
  run_quietly build/logs/wheel-build.log .venv/bin/pip wheel --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir build/wheel/plain .
  run_quietly build/logs/wheel-repair.log env PATH="$PWD/.cache/wheel-tools/bin:$PATH" \
    auditwheel repair --wheel-dir build/wheel build/wheel/plain/*.whl
  ls build/wheel/*.whl
}
