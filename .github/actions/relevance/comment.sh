#!/usr/bin/env bash
# Keep one comment on the pull request: found by a hidden marker, changed in place, made if there is none.
# Without the right to write, as on a pull request from a fork, the step summary has to do.
set -euo pipefail
# shellcheck source=shield.sh
source "$GITHUB_ACTION_PATH/shield.sh"
cd "$RUNNER_TEMP" # gh needs nothing of the checkout
faults="$RUNNER_TEMP/cce-relevance-gh.log"
: >"$faults"

summary_only() {
  if [[ -s "$faults" ]]; then
    shielded "$faults"
  fi
  echo "::notice title=cce relevance::$1; the report is in the step summary"
  exit 0
}

[[ -n "${GH_TOKEN:-}" ]] || summary_only "no token to comment with"
[[ -n "${PULL_REQUEST:-}" ]] || summary_only "no pull request to comment on"
command -v gh >/dev/null || summary_only "no gh on this runner to comment with"

# One comment for each thing asked, so that two gates do not write over each other.
marker="<!-- cce-relevance:$(printf '%s' "$ASKED" | cksum | cut -d ' ' -f 1) -->"
body="$RUNNER_TEMP/cce-relevance-comment.md"
{
  printf '%s\n' "$marker"
  cat "$REPORTS/comment.md"
  printf '\n[All reports of this run](%s/%s/actions/runs/%s)\n' \
    "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$GITHUB_RUN_ID"
} >"$body"

# Anybody may write the marker: only a comment of whoever this token stands for is ours. The token of an
# action is no user, so that `user` has no answer for it; GraphQL's viewer knows both.
login="$(gh api graphql --raw-field 'query={viewer{login}}' --jq .data.viewer.login 2>/dev/null)" ||
  login="$(gh api user --jq .login 2>/dev/null)" || login=""
[[ "$login" =~ ^[A-Za-z0-9_-]+(\[bot\])?$ ]] || login="github-actions[bot]"

comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
ours=".[] | select(.user.login == \"$login\") | select((.body // \"\") | startswith(\"$marker\")) | .id"
found="$(gh api --paginate "$comments?per_page=100" --jq "$ours" 2>>"$faults")" ||
  summary_only "the comments cannot be read with this token"
id="${found%%$'\n'*}"
if [[ "$id" =~ ^[0-9]+$ ]]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" \
    --field "body=@$body" >/dev/null 2>>"$faults" || summary_only "the comment cannot be changed with this token"
else
  gh api --silent --method POST "$comments" --field "body=@$body" >/dev/null 2>>"$faults" ||
    summary_only "no comment can be made with this token"
fi
