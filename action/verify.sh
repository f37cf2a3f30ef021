#!/usr/bin/env bash
# Verifies the catalog and tells the workflow what came of it: log, annotations, summary, outputs.
# It ends well whatever the run found: the report is kept before a later step decides.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
icecheck=$ICECHECK_PROGRAMS/icecheck
work=$(mktemp -d "$RUNNER_TEMP/icecheck-action.XXXXXX")
output=${INPUT_OUTPUT:-icecheck-report}
case "$output" in
  /*) ;;
  *) output=$PWD/$output ;;
esac
arguments=()

# An empty input leaves what the job's own environment says of the catalog.
hand_on() {
  if [ -n "$1" ]; then
    export "$2=$1"
  fi
}

# Puts the lines of the input options into `arguments`: `--name`, `--name=value` or `--name value`.
read_options() {
  local line first rest
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    line=${line#"${line%%[![:space:]]*}"}
    line=${line%"${line##*[![:space:]]}"}
    first=${line%%[[:space:]]*}
    rest=${line#"$first"}
    if [ -z "$line" ]; then
      continue
    elif [[ "$first" == -* && "$first" != *=* && -n "$rest" ]]; then
      arguments+=("$first" "${rest#"${rest%%[![:space:]]*}"}")
    else
      arguments+=("$line")
    fi
  done <<<"$1"
}

# Prints why these arguments are refused; nothing if they are not.
refusal() {
  local each
  for each in "$@"; do
    case "${each%%=*}" in
      --*token | --*credential)
        echo "the input options must not hold a secret: use the inputs token and credential," \
          "or the environment (CATALOG_SECOND__TOKEN, ...)"
        return
        ;;
      --output | --expectations)
        echo "leave ${each%%=*} out of the input options: it is an input of its own"
        return
        ;;
    esac
  done
}

verify() {
  local stop code
  # What a catalog says is printed too, and must not be taken for commands to the runner.
  stop=$("$ICECHECK_PROGRAMS/python" -c 'import uuid; print(uuid.uuid4().hex)')
  echo "::stop-commands::$stop"
  set +e
  "$icecheck" run ${arguments[@]+"${arguments[@]}"} "--output=$output" 2>&1 | tee -- "$work/log"
  code=${PIPESTATUS[0]}
  set -e
  printf '\n::%s::\n' "$stop"
  return "$code"
}

compare() {
  local code=0
  "$icecheck" compare --format json -- "$work/baseline.json" "$output" >"$work/comparison.json" \
    2>"$work/not-compared" || code=$?
  if [ "$code" -gt 1 ]; then
    rm -f -- "$work/comparison.json"
    return
  fi
  "$icecheck" compare --format markdown -- "$work/baseline.json" "$output" \
    >>"$GITHUB_STEP_SUMMARY" || true
}

hand_on "$INPUT_CATALOG_URL" CATALOG_URI
hand_on "$INPUT_WAREHOUSE" CATALOG_WAREHOUSE
hand_on "$INPUT_TOKEN" CATALOG_TOKEN
hand_on "$INPUT_CREDENTIAL" CATALOG_CREDENTIAL
read_options "$INPUT_OPTIONS"
refused=$(refusal ${arguments[@]+"${arguments[@]}"})
if [ -n "$INPUT_EXPECTATIONS" ]; then
  arguments+=("--expectations=$INPUT_EXPECTATIONS")
fi

# Copied before the run: the report may be written where the earlier one is.
if [ -n "$INPUT_BASELINE" ]; then
  baseline=$INPUT_BASELINE
  if [ -d "$baseline" ]; then
    baseline=$baseline/run.json
  fi
  cp -- "$baseline" "$work/baseline.json" 2>/dev/null || touch "$work/no-baseline"
fi

code=0
touch "$work/began"
if [ -n "$refused" ]; then
  printf 'icecheck: %s\n' "$refused" >"$work/log"
  code=2
else
  verify || code=$?
fi

# Only a report that this run has written is told.
if [ "$output/run.json" -nt "$work/began" ]; then
  touch "$work/reported"
  "$icecheck" report render --format annotations -- "$output" ||
    echo "::warning title=icecheck::there are no annotations: the report cannot be rendered"
  "$icecheck" report render --format markdown -- "$output" >>"$GITHUB_STEP_SUMMARY" ||
    echo "::warning title=icecheck::there is no summary: the report cannot be rendered"
  if [ -f "$work/baseline.json" ]; then
    compare
  fi
fi
"$ICECHECK_PROGRAMS/python" -P "$here/outputs.py" "$work" "$output" "$code"
rm -rf -- "$work"
