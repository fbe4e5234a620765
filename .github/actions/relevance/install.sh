#!/usr/bin/env bash
# Install cce of the same revision as this action into an environment of its own.
set -euo pipefail
# shellcheck source=shield.sh
source "$GITHUB_ACTION_PATH/shield.sh"
forget_python_settings

venv="$RUNNER_TEMP/cce-relevance-venv"
revision="$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)"
log="$RUNNER_TEMP/cce-relevance-install.log"
# Outside of the checkout, and isolated (-I), so that no types.py of it is taken for Python's own.
cd "$RUNNER_TEMP"

fail() {
  shielded "$log"
  echo "::error title=cce relevance::$1: $(escaped "$(tail -n 1 "$log")")"
  exit 1
}

rm -rf "$venv"
"$PYTHON" -I -m venv "$venv" >"$log" 2>&1 || fail "no environment for cce can be made"
python="$venv/bin/python"
if [[ -d "$venv/Scripts" ]]; then # Windows
  python="$venv/Scripts/python.exe"
fi
"$python" -I -m pip install --quiet --disable-pip-version-check --no-input "$revision" >"$log" 2>&1 ||
  fail "cce cannot be installed"
echo "python=$python" >>"$GITHUB_OUTPUT"
