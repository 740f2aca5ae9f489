#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# incident_table.sh FOLDER: the table of incidents of scenarios/README.md from the result databases
# FOLDER/NAME.db, one a file of scenarios/incidents (weir compare FILE -o FOLDER/NAME.db). What is
# removed of a symptom is how far the fix comes from `broken` to where nothing is wrong.
set -euo pipefail
table=$(dirname "$0")/incidents.table

# value NAME VARIANT METRIC LABEL: the mean over replications.
value() {
    sqlite3 -readonly "$folder/$1.db" "SELECT avg(value) FROM v_result WHERE variant = '$2' AND
        metric = '$3' AND label = '${4#-}'"
}

folder=$1
echo '| incident | symptom | broken | fix | removed |'
echo '|---|---|---|---|---|'
grep -v '^#' "$table" | while IFS='|' read -r name metric label good words part; do
    broken=$(value "$name" broken "$metric" "$label")
    fix=$(value "$name" fix "$metric" "$label")
    [[ $good =~ ^[0-9.]+$ ]] || good=$(value "$name" "$good" "$metric" "$label")
    sqlite3 :memory: "SELECT printf('| %s | %s | %s | %s | %.0f %%%s |', '$name', '$words',
        iif($broken < 1000, printf('%.3g', $broken), printf('%,d', $broken)),
        iif($fix < 1000, printf('%.3g', $fix), printf('%,d', $fix)),
        min(100, 100.0 * ($fix - $broken) / ($good - $broken)), iif('$part' = '', '', ' ($part)'))"
done
