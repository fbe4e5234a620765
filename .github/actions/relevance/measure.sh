#!/usr/bin/env bash
# Measure, and put the answer where GitHub shows it: annotations, the step summary, files for the artifact.
# This step passes whatever the answer is, so that it can be shown; the last step of the action refuses.
set -euo pipefail

reports="$RUNNER_TEMP/cce-relevance-reports"
rm -rf "$reports"
mkdir -p "$reports"
messages="$RUNNER_TEMP/cce-relevance-messages"

# A workflow command takes one line.
escaped() {
  local text="${1//'%'/%25}"
  text="${text//$'\r'/%0D}"
  printf '%s' "${text//$'\n'/%0A}"
}

command=("$PYTHON" -m cce)
if [[ -n "$POLICY" && -z "$FIXTURES$COMPARE" ]]; then
  command+=(gate "$POLICY")
  if [[ "$STRICT" == "true" ]]; then
    command+=(--strict)
  fi
elif [[ -z "$POLICY" && -n "$FIXTURES" ]]; then
  command+=(relevance "$FIXTURES")
  if [[ -n "$COMPARE" ]]; then
    command+=(--compare "$COMPARE" --evidence)
  fi
else
  echo "::error title=cce relevance::give the input policy, or the input fixtures with or without compare"
  exit 2
fi

code=0
"${command[@]}" \
  --report github=- \
  --report "text=$reports/report.txt" \
  --report "json=$reports/report.json" \
  --report "markdown=$reports/comment.md" \
  --report "html=$reports/report.html" \
  --report "junit=$reports/junit.xml" \
  2>"$messages" || code=$?
cat "$messages" >&2

if ((code > 1)); then
  verdict=INVALID
  rm -rf "${reports:?}"/*
  fault="$(tail -n 1 "$messages")"
  echo "::error title=cce relevance::$(escaped "$fault")"
  {
    echo "## ⚠️ Relevance could not be measured"
    echo
    # Indented text is code, whatever signs it has.
    sed 's/^/    /' "$messages"
  } >"$reports/comment.md"
else
  cat "$reports/report.txt"
  verdict="$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1], "rb")).get("verdict", "MEASURED"))' "$reports/report.json")"
fi

cat "$reports/comment.md" >>"$GITHUB_STEP_SUMMARY"
{
  echo "verdict=$verdict"
  echo "exit-code=$code"
  echo "reports=$reports"
} >>"$GITHUB_OUTPUT"
