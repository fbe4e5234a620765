#!/usr/bin/env bash
# Measure, and put the answer where GitHub shows it: annotations, the step summary, files for the artifact.
# This step passes whatever the answer is, so that it can be shown; the last step of the action refuses.
set -euo pipefail
# shellcheck source=shield.sh
source "$GITHUB_ACTION_PATH/shield.sh"
forget_python_settings

reports="$RUNNER_TEMP/cce-relevance-reports"
rm -rf "$reports"
mkdir -p "$reports"
messages="$RUNNER_TEMP/cce-relevance-messages"
annotations="$RUNNER_TEMP/cce-relevance-annotations"

# Isolated (-I): the checkout is not on Python's path, nor what PYTHONPATH names. It starts in the checkout
# all the same, for the paths that were given are relative to it, and so are those that the reports show.
# -X stands for PYTHONUTF8, which isolated mode does not read.
command=("$PYTHON" -I -X utf8 -m cce)
if [[ -n "$POLICY" && -z "$FIXTURES$COMPARE" ]]; then
  command+=(gate)
  if [[ "$STRICT" == "true" ]]; then
    command+=(--strict)
  fi
elif [[ -z "$POLICY" && -n "$FIXTURES" ]]; then
  command+=(relevance)
  if [[ -n "$COMPARE" ]]; then
    command+=("--compare=$COMPARE" --evidence)
  fi
else
  echo "::error title=cce relevance::give the input policy, or the input fixtures with or without compare"
  exit 2
fi

# Programs of a stranger's pull request must not run where secrets or a token that writes may be. Only the input
# says so: a variable of the job would speak for every pull request.
unset CCE_RUN_SYSTEMS
forbidden=""
if [[ "$RUN_SYSTEMS" == "true" ]]; then
  if [[ "$EVENT" == "pull_request_target" || "$EVENT" == "workflow_run" ]]; then
    forbidden="run-systems: on $EVENT the job has rights that programs of a pull request must not get"
  elif [[ "$EVENT" == pull_request* && "$HEAD_REPOSITORY" != "$REPOSITORY" ]]; then
    forbidden="run-systems: this pull request comes from another repository, whose programs do not run here"
  elif [[ -n "$POLICY" ]]; then
    command+=(--run-systems)
  fi
fi

measure() {
  code=0
  if [[ -n "$forbidden" ]]; then
    echo "error: $forbidden" >"$messages"
    code=2
    return
  fi
  "${command[@]}" "$@" \
    --report "github=$annotations" \
    --report "text=$reports/report.txt" \
    --report "json=$reports/report.json" \
    --report "markdown=$reports/comment.md" \
    --report "html=$reports/report.html" \
    --report "junit=$reports/junit.xml" \
    -- "$POLICY$FIXTURES" \
    >"$RUNNER_TEMP/cce-relevance-output" 2>"$messages" || code=$?
}

# A baseline that is accepted in a pull request must not decide about it: that of its base does.
ref="$BASELINE_REF"
if [[ -z "$ref" && -n "$BASE" ]]; then
  ref="$BASE"
  # Public repositories, and checkouts that keep their credentials, can still get it.
  git cat-file -e "$BASE^{commit}" 2>/dev/null ||
    GIT_TERMINAL_PROMPT=0 git fetch --quiet --no-tags --depth=1 origin "$BASE" 2>/dev/null ||
    echo "::warning title=cce relevance::the base of the pull request is not here: check out with fetch-depth 2"
fi
if [[ -z "$POLICY" || -z "$ref" || "$ref" == none ]]; then
  measure
else
  measure "--baseline-ref=$ref"
  if ((code == 2)) && [[ -z "$BASELINE_REF" ]] && grep -q '^error: .* that commit has no such file' "$messages"; then
    echo "::warning title=cce relevance::the base of the pull request has no baseline yet, so the one in it counts"
    measure
  fi
fi

# The verdict, if all reports are there and say what the exit code says. Python ends with 1 by itself, too:
# only a whole report makes 1 a refusal.
whole='
import json, os, sys
folder, annotations, code, is_strict = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "true"
names = ("report.txt", "comment.md", "report.html", "junit.xml")
paths = [annotations, *(os.path.join(folder, name) for name in names)]
if not all(os.path.getsize(path) for path in paths):
    sys.exit(1)
with open(os.path.join(folder, "report.json"), "rb") as stream:
    report = json.load(stream)
if report["schema"].startswith("cce.relevance.report/"):
    verdict, refused = "MEASURED", False
else:
    verdict = {"GO": "GO", "REVIEW": "REVIEW", "BLOCK": "BLOCK"}[report["verdict"]]
    refused = verdict == "BLOCK" or (is_strict and verdict == "REVIEW")
if refused != (code == 1):
    sys.exit(1)
print(verdict)
'
verdict=INVALID
if ((code <= 1)); then
  verdict="$("$PYTHON" -I -c "$whole" "$reports" "$annotations" "$code" "$STRICT" 2>/dev/null | tr -d '\r')" ||
    verdict=INVALID
fi

shielded "$messages"
if [[ "$verdict" == INVALID ]]; then
  rm -rf "${reports:?}"/*
  fault="$(tail -n 1 "$messages")"
  if ((code <= 1)); then
    fault="cce ended with $code but without whole reports${fault:+: $fault}"
    code=2
  fi
  fault="${fault:-cce ended with $code and said nothing}"
  echo "::error title=cce relevance::$(escaped "$fault")"
  {
    echo "## ⚠️ Relevance could not be measured"
    echo
    # Indented text is code, whatever signs it has; a carriage return would end the line for Markdown.
    { tail -n 40 "$messages" && printf '\n%s\n' "$fault"; } | cut -c 1-500 |
      LC_ALL=C tr '\000-\011\013-\037\177' '?' | sed 's/^/    /'
  } >"$reports/comment.md"
else
  shielded "$reports/report.txt"
  # These are commands on purpose: each on one line, with what is foreign in them escaped.
  grep -E '^::(error|warning|notice) ' "$annotations" || true
fi

cat "$reports/comment.md" >>"$GITHUB_STEP_SUMMARY"
{
  echo "verdict=$verdict"
  echo "exit-code=$code"
  echo "reports=$reports"
} >>"$GITHUB_OUTPUT"
