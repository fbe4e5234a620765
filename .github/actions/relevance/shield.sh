# For the other scripts of this action, which source it: what they print, and what Python sees of the job.
# Text from a set, a path, a warning or a server could hold workflow commands, at the start of a line
# (`::add-mask::`) or anywhere in it (`##[error]`). GitHub obeys none between `::stop-commands::TOKEN` and
# `::TOKEN::`, and nobody can write the second without knowing the token.
# shellcheck shell=bash

# Print a file; the end of the shield stands on a line of its own, whatever the file ends with.
shielded() {
  local token
  token="cce-$(LC_ALL=C od -An -N16 -tx1 /dev/urandom | LC_ALL=C tr -cd '0-9a-f')"
  [[ "${#token}" == 36 ]] || return 0 # without an unguessable token nothing of it is printed
  printf '::stop-commands::%s\n' "$token"
  cat "$1"
  printf '\n::%s::\n' "$token"
}

# A workflow command takes one line.
escaped() {
  local text="${1:0:1000}"
  text="${text//'%'/%25}"
  text="${text//$'\r'/%0D}"
  printf '%s' "${text//$'\n'/%0A}"
}

# The job's settings of Python and pip are for the job's own code: paths in them may lie in the checkout.
# What says how the index of packages is reached stays.
forget_python_settings() {
  local name
  for name in $(compgen -e); do
    case "$name" in
      PYTHON) ;; # ours: which Python to run
      PIP_INDEX_URL | PIP_CERT | PIP_CLIENT_CERT | PIP_PROXY | PIP_TRUSTED_HOST | PIP_CACHE_DIR) ;;
      PYTHON* | PIP_* | VIRTUAL_ENV | __PYVENV_LAUNCHER__) unset "$name" ;;
    esac
  done
}
