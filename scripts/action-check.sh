#!/usr/bin/env bash
# The step of action.yml that runs heddle, whose path is the argument. The environment variables ARGS,
# SARIF, UPLOAD and UNKNOWN are the inputs args, sarif, upload-sarif and unknown of the action. Appends
# tables of findings and verdicts to GITHUB_STEP_SUMMARY. Writes to GITHUB_OUTPUT: exit-code, that of
# heddle, and sarif, the file for code scanning if there is one.
set -uo pipefail
heddle=$1
set -f # the shell must not expand patterns in ARGS: heddle does
sarif=${SARIF:-}
sarif=${sarif//[$'\r\n']/} # it becomes a line of GITHUB_OUTPUT
if [ -z "$sarif" ] && [ "${UPLOAD:-false}" = true ]; then sarif=$RUNNER_TEMP/heddle.sarif; fi

set -- check
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then set -- "$@" --summary "$GITHUB_STEP_SUMMARY"; fi
if [ -n "$sarif" ]; then set -- "$@" --report "sarif=$sarif.all"; else set -- "$@" --format github; fi
# shellcheck disable=SC2086
"$heddle" "$@" $ARGS
code=$?
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"

# Code scanning shows every result as an alert, even results of kind pass and open and suppressed ones.
# So the uploaded file contains only failures that are not suppressed.
if [ -n "$sarif" ] && [ -s "$sarif.all" ]; then
  jq '.runs[].results |= map(select(.kind == "fail" and ((.suppressions // []) | length == 0)))' \
    "$sarif.all" >"$sarif" || exit 4
  echo "sarif=$sarif" >>"${GITHUB_OUTPUT:-/dev/null}"
fi
if [ -n "$sarif" ]; then rm -f "$sarif.all"; fi
if [ "$code" -eq 3 ] && [ "${UNKNOWN:-warn}" != fail ]; then
  echo "::warning title=heddle::heddle could not decide some kernels; see the log, or set unknown: fail"
  exit 0
fi
exit "$code"
