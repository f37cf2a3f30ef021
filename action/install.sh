#!/usr/bin/env bash
# Installs icecheck into an environment of its own; output: programs, the directory of its commands.
set -euo pipefail

if [[ ! "$INPUT_EXTRAS" =~ ^[a-z0-9]+(,[a-z0-9]+)*$ ]]; then
  echo "::error title=icecheck::the input extras names extras, separated by commas"
  exit 2
fi
from=${INPUT_INSTALL_FROM:-$GITHUB_ACTION_PATH}
environment=$RUNNER_TEMP/icecheck-environment

python=python3
if command -v python >/dev/null; then
  python=python # what setup-python puts first is called so on every system
fi
"$python" -m venv --clear -- "$environment"
programs=$environment/bin
if [ -d "$environment/Scripts" ]; then
  programs=$environment/Scripts
fi
"$programs/python" -m pip install -q --disable-pip-version-check -- "${from}[${INPUT_EXTRAS}]"
"$programs/icecheck" --version
echo "programs=$programs" >>"$GITHUB_OUTPUT"
