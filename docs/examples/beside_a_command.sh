#!/bin/sh
# A program that knows nothing of the mock finds it by its variables, and files say it to the others.
# Run it: `sh beside_a_command.sh`. It needs `icecheck[suite]`.
set -eu

icecheck serve --quiet --run -- sh -c '
  python -c "
from pyiceberg.catalog import load_catalog

catalog = load_catalog()
catalog.create_namespace(\"db\")
print(\"PyIceberg finds\", catalog.list_namespaces())
"
  ls "$ICECHECK_CLIENTS"
'

echo "its exit code is ours: $(icecheck serve --quiet --run -- sh -c 'exit 3' || echo $?)"

# The same for a catalog that runs already.
icecheck connect duckdb --uri http://127.0.0.1:8181 --warehouse wh
