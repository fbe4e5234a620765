#!/usr/bin/env bash
# Install cce of the same revision as this action into an environment of its own.
set -euo pipefail

venv="$RUNNER_TEMP/cce-relevance-venv"
"$PYTHON" -m venv "$venv"
python="$venv/bin/python"
if [[ -d "$venv/Scripts" ]]; then # Windows
  python="$venv/Scripts/python.exe"
fi
"$python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH/../../.."
echo "python=$python" >>"$GITHUB_OUTPUT"
