#!/usr/bin/env bash
# The step of action.yml that runs heddle, whose path is the argument. It takes ARGS, SARIF and UNKNOWN from the
# environment: the inputs args, sarif and unknown of the action.
set -uo pipefail
heddle=$1
set -f # the words of ARGS are no patterns for the shell
if [ -n "${SARIF:-}" ]; then
  # shellcheck disable=SC2086
  "$heddle" check --format sarif $ARGS >"$SARIF.all"
  code=$?
  # Code scanning shows every result as an alert, also those of kind pass and open, and suppressed ones.
  if [ -s "$SARIF.all" ]; then
    jq '.runs[].results |= map(select(.kind == "fail" and ((.suppressions // []) | length == 0)))' "$SARIF.all" >"$SARIF" || exit 4
  fi
  rm -f "$SARIF.all"
else
  # shellcheck disable=SC2086
  "$heddle" check --format github $ARGS
  code=$?
fi
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
if [ "$code" -eq 3 ] && [ "${UNKNOWN:-warn}" != fail ]; then
  echo "::warning title=heddle::some kernels could not be decided"
  exit 0
fi
exit "$code"
