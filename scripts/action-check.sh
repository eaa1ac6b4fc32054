#!/usr/bin/env bash
# The step of action.yml that runs heddle, whose path is the argument. The environment variables ARGS,
# SARIF and UNKNOWN are the inputs args, sarif and unknown of the action. Writes the exit code of heddle
# to GITHUB_OUTPUT.
set -uo pipefail
heddle=$1
set -f # the shell must not expand patterns in ARGS: heddle does
if [ -n "${SARIF:-}" ]; then
  # shellcheck disable=SC2086
  "$heddle" check --format sarif $ARGS >"$SARIF.all"
  code=$?
  # Code scanning shows every result as an alert, even results of kind pass and open and suppressed ones.
  # So the uploaded file contains only failures that are not suppressed.
  if [ -s "$SARIF.all" ]; then
    jq '.runs[].results |= map(select(.kind == "fail" and ((.suppressions // []) | length == 0)))' \
      "$SARIF.all" >"$SARIF" || exit 4
  fi
  rm -f "$SARIF.all"
else
  # shellcheck disable=SC2086
  "$heddle" check --format github $ARGS
  code=$?
fi
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
if [ "$code" -eq 3 ] && [ "${UNKNOWN:-warn}" != fail ]; then
  echo "::warning title=heddle::heddle could not decide some kernels; see the log, or set unknown: fail"
  exit 0
fi
exit "$code"
