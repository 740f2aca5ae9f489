-- SPDX-License-Identifier: GPL-3.0-or-later
-- Shards alone have this table: a row for each run that is over, committed together with the last of
-- its rows. A run without one is not finished; one whose rows give other values is damaged.
CREATE TABLE manifest (
  run_id INTEGER PRIMARY KEY,
  row_count INTEGER NOT NULL,        -- in all tables with a run_id
  digest TEXT NOT NULL               -- 16 hex digits, of all values of these rows, in the order of the rows
) STRICT;
