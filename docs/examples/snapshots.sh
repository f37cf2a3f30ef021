#!/bin/sh
# Any language: start the mock, take a snapshot, break something, and go back.
# Run it: `sh snapshots.sh`. It needs icecheck and curl.
set -eu

icecheck serve --port 0 --ready-file ready.json --quiet > /dev/null &
server=$!
trap 'kill $server' EXIT
until [ -s ready.json ]; do sleep 0.05; done
uri=$(sed 's/.*"uri": "\([^"]*\)".*/\1/' ready.json)
admin="$uri/_mock/v1"
json='Content-Type: application/json'

curl -sf -X POST -H "$json" -d '{"namespace": ["db"]}' "$uri/v1/namespaces" > /dev/null
snapshot=$(curl -sf -X POST "$admin/snapshots" | sed 's/.*"id":"\([^"]*\)".*/\1/')
curl -sf -X DELETE "$uri/v1/namespaces/db"
curl -sf -X POST "$admin/snapshots/$snapshot/restore"
echo "after going back: $(curl -sf "$uri/v1/namespaces")"

fault='{"fault": "throttled", "operation": "listNamespaces", "strict": true}'
id=$(curl -sf -X POST -H "$json" -d "$fault" "$admin/faults" | sed 's/.*"id":"\([^"]*\)".*/\1/')
echo "throttled: $(curl -s -o /dev/null -w '%{http_code}' "$uri/v1/namespaces")"
curl -sf -X DELETE "$admin/faults/$id" > /dev/null
echo "asked: $(curl -sf "$admin/requests?operation=listNamespaces" | sed 's/.*"count":\([0-9]*\).*/\1/') times"
