#!/usr/bin/env bash
# Ends as the input fail-on says: with the exit code of the run, or well.
set -euo pipefail

case "$INPUT_FAIL_ON" in
  gate)
    echo "icecheck: $EXIT_REASON (exit $EXIT_CODE)"
    exit "$EXIT_CODE"
    ;;
  never)
    echo "icecheck: $EXIT_REASON (exit $EXIT_CODE), which fails nothing: the input fail-on is never"
    ;;
  *)
    echo "::error title=icecheck::the input fail-on is gate or never"
    exit 2
    ;;
esac
