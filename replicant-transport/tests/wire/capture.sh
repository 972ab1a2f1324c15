#!/usr/bin/env bash
# Records what a server really sends: for each captures/*.sql a captures/*.hex with one pgoutput message a line.
#
#   capture.sh [case...]      on a server reached through PGHOST, PGPORT, PGUSER; a scratch one with wal_level=logical
#
# A case is SQL in two parts. What stands above the line `-- captured` prepares, what stands below is recorded.
# A line `-- options: ...` gives further options of the output plugin. Look at the difference of the rendered
# .txt (written anew with WIRE_BLESS=1 cargo test -p replicant-transport --test wire) before keeping a capture.
set -euo pipefail
cd "$(dirname "$0")/captures"
sql() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$@"; }

for file in *.sql; do
    case=${file%.sql}
    [[ $# -eq 0 || " $* " == *" $case "* ]] || continue
    database="wire_$case"
    options=$(sed -n 's/^-- options: //p' "$file")
    sql postgres -c "drop database if exists $database" -c "create database $database template template0 encoding 'UTF8'"
    sed '/^-- captured$/,$d' "$file" | sql "$database" >/dev/null
    sql "$database" -c "create publication wire for all tables" >/dev/null
    sql "$database" -c "select pg_create_logical_replication_slot('$database', 'pgoutput')" >/dev/null
    sed '1,/^-- captured$/d' "$file" | sql "$database" >/dev/null
    # A message that stands alone is readable only once the WAL it lies in is flushed.
    sql "$database" -c "select pg_switch_wal()" >/dev/null
    sql "$database" -c "select encode(data, 'hex') from pg_logical_slot_get_binary_changes('$database', null, null,
        'proto_version', '1', 'publication_names', 'wire' ${options:+, $options})" >"$case.hex"
    sql "$database" -c "select pg_drop_replication_slot('$database')" >/dev/null
    sql postgres -c "drop database $database"
done
