// History of the schema, one line for each version. A released migration step is never edited. A change of the schema
// is a new step at the end of the list.
//   1  devices, templates, problems, runs, trials, winners, binaries; the view `best`
//   2  how long the worker verified and timed a trial; the energy of a launch
//   3  what a trial was verified against; the trial's code hash and toolchain; only verified trials may win
//   4  hashes of templates and machine code; an index of near problems; which programs can read the file
//   5  portfolios
//   6  an index of the trials whose machine code gave a wrong result or crashed
#include "db/file/schema.h"

#include <array>

namespace smemtune {

namespace {

constexpr const char* version_1 = R"sql(
PRAGMA application_id = 1936549229;

-- A device is its name and its limits: another clock or driver limit is another device.
CREATE TABLE devices (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (name <> ''),
    compute_capability INTEGER NOT NULL CHECK (compute_capability >= 0),   -- 90 for 9.0; 0 for the host CPU
    multiprocessors INTEGER NOT NULL CHECK (multiprocessors >= 0),
    warp_size INTEGER NOT NULL CHECK (warp_size > 0),
    threads_per_block INTEGER NOT NULL CHECK (threads_per_block >= 0),
    threads_per_multiprocessor INTEGER NOT NULL CHECK (threads_per_multiprocessor >= 0),
    blocks_per_multiprocessor INTEGER NOT NULL CHECK (blocks_per_multiprocessor >= 0),
    static_shared_bytes_per_block INTEGER NOT NULL CHECK (static_shared_bytes_per_block >= 0),
    shared_bytes_per_block INTEGER NOT NULL CHECK (shared_bytes_per_block >= 0),
    shared_bytes_per_multiprocessor INTEGER NOT NULL CHECK (shared_bytes_per_multiprocessor >= 0),
    shared_bytes_reserved_per_block INTEGER NOT NULL CHECK (shared_bytes_reserved_per_block >= 0),
    registers_per_thread INTEGER NOT NULL CHECK (registers_per_thread >= 0),
    registers_per_block INTEGER NOT NULL CHECK (registers_per_block >= 0),
    registers_per_multiprocessor INTEGER NOT NULL CHECK (registers_per_multiprocessor >= 0),
    grid_x INTEGER NOT NULL CHECK (grid_x >= 0),
    grid_y INTEGER NOT NULL CHECK (grid_y >= 0),
    grid_z INTEGER NOT NULL CHECK (grid_z >= 0),
    l2_bytes INTEGER NOT NULL CHECK (l2_bytes >= 0),
    memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
    clock_khz INTEGER NOT NULL CHECK (clock_khz >= 0),                     -- 0 when unknown
    UNIQUE (name, compute_capability, multiprocessors, warp_size, threads_per_block, threads_per_multiprocessor,
            blocks_per_multiprocessor, static_shared_bytes_per_block, shared_bytes_per_block,
            shared_bytes_per_multiprocessor, shared_bytes_reserved_per_block, registers_per_thread,
            registers_per_block, registers_per_multiprocessor, grid_x, grid_y, grid_z, l2_bytes, memory_bytes,
            clock_khz)
) STRICT;

-- A template as it was when it was tried: an edited kernel is another row, with another hash.
CREATE TABLE templates (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (name <> ''),
    operation TEXT NOT NULL,
    hash TEXT NOT NULL CHECK (hash <> ''),
    UNIQUE (name, hash)
) STRICT;

CREATE TABLE template_files (
    template INTEGER NOT NULL REFERENCES templates (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (template, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE problems (
    id INTEGER PRIMARY KEY,
    operation TEXT NOT NULL CHECK (operation <> ''),
    type TEXT NOT NULL,
    layout TEXT NOT NULL,                                                  -- '' for an operation without layouts
    size TEXT NOT NULL,                                                    -- 4096x4096x128: the extents, for people
    extents TEXT NOT NULL CHECK (json_valid(extents) AND json_type(extents) = 'object'),  -- {"M":4096,...} in order
    UNIQUE (operation, type, layout, extents)
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    request TEXT NOT NULL CHECK (json_valid(request)),
    policy TEXT NOT NULL CHECK (json_valid(policy)),
    versions TEXT NOT NULL CHECK (json_valid(versions)),
    started_at TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??*Z'),
    finished_at TEXT CHECK (finished_at GLOB '????-??-??T??:??:??*Z'),
    how TEXT CHECK (how <> ''),                                            -- complete, budget, interrupted, ...
    CHECK ((finished_at IS NULL) = (how IS NULL))                          -- both NULL: still running, or killed
) STRICT;

CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES devices (id),
    template INTEGER NOT NULL REFERENCES templates (id),
    problem INTEGER NOT NULL REFERENCES problems (id),
    configuration TEXT NOT NULL,                                           -- TSZ_COLS=16,TSZ_ROWS=64: sorted by name
    median_us REAL CHECK (median_us >= 0 AND median_us < 9e999),
    spread_us REAL CHECK (spread_us >= 0 AND spread_us < 9e999),
    samples_us TEXT CHECK (samples_us IS NULL OR (json_valid(samples_us) AND json_type(samples_us) = 'array')),
    cut_short INTEGER CHECK (cut_short IN (0, 1)),
    clock_khz INTEGER CHECK (clock_khz >= 0),                              -- 0 when unknown
    rejected_at TEXT CHECK (rejected_at IN ('limits', 'compile', 'launch', 'wrong', 'crash', 'timeout')),
    reason TEXT,
    registers INTEGER NOT NULL CHECK (registers >= 0),
    spill_bytes INTEGER NOT NULL CHECK (spill_bytes >= 0),
    static_shared_bytes INTEGER NOT NULL CHECK (static_shared_bytes >= 0),
    dynamic_shared_bytes INTEGER NOT NULL CHECK (dynamic_shared_bytes >= 0),
    compile_ms REAL NOT NULL CHECK (compile_ms >= 0),
    run INTEGER REFERENCES runs (id),
    finished_at TEXT NOT NULL CHECK (finished_at GLOB '????-??-??T??:??:??*Z'),
    UNIQUE (device, template, problem, configuration),
    UNIQUE (id, device, problem),                                          -- what winners refer to
    CHECK ((median_us IS NULL) = (rejected_at IS NOT NULL)),               -- measured or rejected, never both
    CHECK ((reason IS NULL) = (rejected_at IS NULL)),
    CHECK ((spread_us IS NULL) = (median_us IS NULL)),
    CHECK ((samples_us IS NULL) = (median_us IS NULL)),
    CHECK ((cut_short IS NULL) = (median_us IS NULL)),
    CHECK ((clock_khz IS NULL) = (median_us IS NULL))
) STRICT;

-- The fastest trial of a device and problem is the first entry here; that of a template, the first with its number.
CREATE INDEX trials_by_speed ON trials (device, problem, median_us, id, template) WHERE median_us IS NOT NULL;

-- What the tuner decided after measuring the finalists again; its trial is one of the same device and problem.
CREATE TABLE winners (
    device INTEGER NOT NULL,
    problem INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    decided_at TEXT NOT NULL CHECK (decided_at GLOB '????-??-??T??:??:??*Z'),
    PRIMARY KEY (device, problem),
    FOREIGN KEY (trial, device, problem) REFERENCES trials (id, device, problem) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TRIGGER only_a_measured_trial_wins BEFORE INSERT ON winners
WHEN (SELECT median_us FROM trials WHERE id = NEW.trial) IS NULL
BEGIN
    SELECT RAISE (ABORT, 'a winner must be a measured trial');
END;

-- A winner that was tried again and failed is no winner.
CREATE TRIGGER a_rejected_trial_loses_its_crown AFTER UPDATE OF median_us ON trials
WHEN NEW.median_us IS NULL
BEGIN
    DELETE FROM winners WHERE device = NEW.device AND problem = NEW.problem AND trial = NEW.id;
END;

CREATE TABLE binaries (
    id INTEGER PRIMARY KEY,
    template INTEGER NOT NULL REFERENCES templates (id),
    configuration TEXT NOT NULL,
    target TEXT NOT NULL CHECK (target <> ''),                             -- sm_90a, host-x86_64
    compiler TEXT NOT NULL,
    code BLOB NOT NULL CHECK (length(code) > 0),
    registers INTEGER NOT NULL CHECK (registers >= 0),
    spill_bytes INTEGER NOT NULL CHECK (spill_bytes >= 0),
    static_shared_bytes INTEGER NOT NULL CHECK (static_shared_bytes >= 0),
    dynamic_shared_bytes INTEGER NOT NULL CHECK (dynamic_shared_bytes >= 0),
    UNIQUE (template, configuration, target)
) STRICT;

-- One row per device and problem with a measured trial: the crowned one, else the fastest. Each is found by a seek.
CREATE VIEW best_trials AS
SELECT d.id AS device, p.id AS problem,
       coalesce((SELECT w.trial FROM winners AS w WHERE w.device = d.id AND w.problem = p.id),
                (SELECT t.id FROM trials AS t WHERE t.device = d.id AND t.problem = p.id AND t.median_us IS NOT NULL
                 ORDER BY t.median_us, t.id LIMIT 1)) AS trial
FROM devices AS d CROSS JOIN problems AS p
WHERE trial IS NOT NULL;

-- The same for people: sqlite3 FILE 'select * from best'
CREATE VIEW best AS
SELECT d.name AS device, p.operation, p.type, p.layout, p.size,
       k.name AS template, t.configuration,
       t.median_us AS time_us, t.spread_us, json_array_length(t.samples_us) AS samples,
       t.registers, t.static_shared_bytes + t.dynamic_shared_bytes AS shared_bytes,
       CASE WHEN w.trial = t.id THEN 'yes' ELSE 'no' END AS decided,
       coalesce(w.decided_at, t.finished_at) AS since
FROM best_trials AS b
JOIN trials AS t ON t.id = b.trial
JOIN devices AS d ON d.id = b.device
JOIN problems AS p ON p.id = b.problem
JOIN templates AS k ON k.id = t.template
LEFT JOIN winners AS w ON w.device = b.device AND w.problem = b.problem
ORDER BY d.name, d.id, p.operation, p.type, p.layout, p.id;
)sql";

constexpr const char* version_2 = R"sql(
ALTER TABLE trials ADD COLUMN verify_ms REAL NOT NULL DEFAULT 0                -- 0 when unknown
    CHECK (verify_ms >= 0 AND verify_ms < 9e999);
ALTER TABLE trials ADD COLUMN time_ms REAL NOT NULL DEFAULT 0                  -- 0 when unknown
    CHECK (time_ms >= 0 AND time_ms < 9e999);
ALTER TABLE trials ADD COLUMN energy_uj REAL                                   -- of one launch; NULL when unknown
    CHECK (energy_uj IS NULL OR (energy_uj > 0 AND energy_uj < 9e999 AND median_us IS NOT NULL));
)sql";

// Only a complete measurement (cut_short = 0) that passed every check (verified_by IS NOT NULL) may win. SQLite uses
// the index `trials_by_speed` only for a query that repeats the index's WHERE condition word for word.
constexpr const char* version_3 = R"sql(
ALTER TABLE trials ADD COLUMN verified_by TEXT                                 -- the identity of what it was verified
    CHECK (verified_by <> '');                                                 -- against in full; NULL: never in full
ALTER TABLE trials ADD COLUMN code_hash TEXT CHECK (code_hash <> '');          -- SHA-256 of the machine code
ALTER TABLE trials ADD COLUMN toolchain TEXT CHECK (toolchain <> '');          -- compiler and driver
ALTER TABLE trials ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1 CHECK (attempts >= 1);  -- after crash or timeout
UPDATE trials SET verified_by = 'unrecorded' WHERE cut_short = 0;

DROP INDEX trials_by_speed;
CREATE INDEX trials_by_speed ON trials (device, problem, median_us, id, template)
WHERE cut_short = 0 AND verified_by IS NOT NULL;

DELETE FROM winners WHERE trial IN (SELECT id FROM trials WHERE cut_short IS NOT 0);

DROP TRIGGER only_a_measured_trial_wins;
CREATE TRIGGER only_a_verified_trial_wins BEFORE INSERT ON winners
WHEN NOT EXISTS (SELECT 1 FROM trials WHERE id = NEW.trial AND cut_short = 0 AND verified_by IS NOT NULL)
BEGIN
    SELECT RAISE (ABORT, 'a winner must be measured completely and verified in full');
END;
CREATE TRIGGER only_a_verified_trial_succeeds BEFORE UPDATE OF trial ON winners
WHEN NOT EXISTS (SELECT 1 FROM trials WHERE id = NEW.trial AND cut_short = 0 AND verified_by IS NOT NULL)
BEGIN
    SELECT RAISE (ABORT, 'a winner must be measured completely and verified in full');
END;

DROP TRIGGER a_rejected_trial_loses_its_crown;
CREATE TRIGGER an_unverified_trial_is_no_winner AFTER UPDATE OF cut_short, verified_by ON trials
WHEN NEW.cut_short IS NOT 0 OR NEW.verified_by IS NULL
BEGIN
    DELETE FROM winners WHERE device = NEW.device AND problem = NEW.problem AND trial = NEW.id;
END;

DROP VIEW best;
DROP VIEW best_trials;
-- One row per device and problem with such a trial: the winner, else the fastest. Each is found by a seek.
CREATE VIEW best_trials AS
SELECT d.id AS device, p.id AS problem,
       coalesce((SELECT w.trial FROM winners AS w WHERE w.device = d.id AND w.problem = p.id),
                (SELECT t.id FROM trials AS t WHERE t.device = d.id AND t.problem = p.id
                     AND t.cut_short = 0 AND t.verified_by IS NOT NULL
                 ORDER BY t.median_us, t.id LIMIT 1)) AS trial
FROM devices AS d CROSS JOIN problems AS p
WHERE trial IS NOT NULL;

-- The same for people: sqlite3 FILE 'select * from best'
CREATE VIEW best AS
SELECT d.name AS device, p.operation, p.type, p.layout, p.size,
       k.name AS template, t.configuration,
       t.median_us AS time_us, t.spread_us, json_array_length(t.samples_us) AS samples,
       t.registers, t.static_shared_bytes + t.dynamic_shared_bytes AS shared_bytes,
       CASE WHEN w.trial = t.id THEN 'yes' ELSE 'no' END AS decided,
       coalesce(w.decided_at, t.finished_at) AS since
FROM best_trials AS b
JOIN trials AS t ON t.id = b.trial
JOIN devices AS d ON d.id = b.device
JOIN problems AS p ON p.id = b.problem
JOIN templates AS k ON k.id = t.template
LEFT JOIN winners AS w ON w.device = b.device AND w.problem = b.problem
ORDER BY d.name, d.id, p.operation, p.type, p.layout, p.id;
)sql";

// Rows that exist before this step get the hash of their present content.
constexpr const char* version_4 = R"sql(
-- SHA-256 of the row, as db/integrity/row_hash.h says
ALTER TABLE templates ADD COLUMN sha256 TEXT;
ALTER TABLE binaries ADD COLUMN sha256 TEXT;
UPDATE templates SET sha256 = smemtune_sha256(name, operation, hash,
    (SELECT group_concat(smemtune_sha256(path, text), '')
     FROM (SELECT path, text FROM template_files WHERE template = templates.id ORDER BY path)));
UPDATE binaries SET sha256 = smemtune_sha256(template, configuration, target, compiler, code, registers, spill_bytes,
                                             static_shared_bytes, dynamic_shared_bytes);

-- The oldest schema whose programs can read this file: see "Compatibility" in docs/design.md.
CREATE TABLE compatibility (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    oldest_reader INTEGER NOT NULL
) STRICT;
INSERT INTO compatibility VALUES (1, 4);

-- One row for each device, operation, type and layout with a measured trial.
CREATE TABLE place_groups (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES devices (id),
    operation TEXT NOT NULL,
    type TEXT NOT NULL,
    layout TEXT NOT NULL,
    UNIQUE (device, operation, type, layout)
) STRICT;

-- Where the problems with a measured trial lie: the base-2 logarithms of their first four extents, 0 for those that do
-- not exist. id is device * 2^32 + problem. Derived from trials: a place without a trial does no harm.
CREATE VIRTUAL TABLE places USING rtree (id, group_low, group_high, a_low, a_high, b_low, b_high, c_low, c_high,
                                         d_low, d_high);
INSERT INTO place_groups (device, operation, type, layout)
SELECT DISTINCT b.device, p.operation, p.type, p.layout FROM best_trials AS b JOIN problems AS p ON p.id = b.problem;
INSERT INTO places
SELECT b.device * 4294967296 + p.id, g.id, g.id,
       smemtune_log2(p.extents, 0), smemtune_log2(p.extents, 0), smemtune_log2(p.extents, 1),
       smemtune_log2(p.extents, 1), smemtune_log2(p.extents, 2), smemtune_log2(p.extents, 2),
       smemtune_log2(p.extents, 3), smemtune_log2(p.extents, 3)
FROM best_trials AS b JOIN problems AS p ON p.id = b.problem
JOIN place_groups AS g ON g.device = b.device AND g.operation = p.operation AND g.type = p.type AND g.layout = p.layout;
)sql";

// Older readers see no change from this step, so the step leaves `oldest_reader` as it is.
constexpr const char* version_5 = R"sql(
-- Configurations of which one is near the best at every problem of an operation, type and layout, each with the model
-- that predicts its time.
CREATE TABLE portfolio (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES devices (id),
    operation TEXT NOT NULL CHECK (operation <> ''),
    type TEXT NOT NULL,
    layout TEXT NOT NULL,
    template INTEGER NOT NULL REFERENCES templates (id),
    configuration TEXT NOT NULL,
    terms_version INTEGER NOT NULL CHECK (terms_version >= 1),             -- what the coefficients multiply
    coefficients TEXT NOT NULL CHECK (json_valid(coefficients) AND json_type(coefficients) = 'array'),
    error REAL NOT NULL CHECK (error >= 0 AND error < 9e999),              -- of two predictions in three at most
    registers INTEGER NOT NULL CHECK (registers >= 0),
    static_shared_bytes INTEGER NOT NULL CHECK (static_shared_bytes >= 0),
    classes TEXT NOT NULL CHECK (json_valid(classes) AND json_type(classes) = 'array'),  -- of problems, verified there
    verified_by TEXT NOT NULL CHECK (verified_by <> ''),
    code_hash TEXT NOT NULL CHECK (code_hash <> ''),                       -- SHA-256 of the machine code
    sha256 TEXT,                                                           -- of the row
    UNIQUE (device, operation, type, layout, template, configuration)
) STRICT;
)sql";

// Older readers see no change from this step, either.
constexpr const char* version_6 = R"sql(
-- The machine code that failed at some problem: see Store::failed_somewhere().
CREATE INDEX trials_that_failed ON trials (code_hash) WHERE rejected_at IN ('wrong', 'crash');
)sql";

constexpr std::array all_steps{version_1, version_2, version_3, version_4, version_5, version_6};

}  // namespace

Migrations migrations() { return all_steps; }

}  // namespace smemtune
