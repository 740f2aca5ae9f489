#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Some damaged databases, scenarios and traces, the same on every machine: clean errors only. All of
# them, under the sanitizers: ./dev test --damage
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
export WEIR_CHECK_INVARIANTS=0

for part in 'databases 12' 'scenarios 24' 'traces 16'; do
    read -ra words <<<"$part"
    expect 0 python3 "$WEIR_SOURCE_DIR/tests/damage/damage.py" "${words[@]}"
    matches stdout "^${words[1]} damaged ${words[0]}: .* [1-9][0-9]* taken, [1-9][0-9]* refused.*; 0 faults$"
done

# A program that crashes, or says nothing, is noticed.
for what in 'kill -SEGV $$' 'echo ERROR: AddressSanitizer >&2; exit 3' 'exit 2' 'exit 5'; do
    printf '#!/bin/bash\n%s\n' "$what" >broken
    chmod +x broken
    WEIR_BIN=$PWD/broken expect 1 python3 "$WEIR_SOURCE_DIR/tests/damage/damage.py" traces 2
    matches stdout '^2 damaged traces: .*; [1-9][0-9]* faults$'
done
