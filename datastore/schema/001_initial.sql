-- Runs, what happened in them, and what people keep beside them.
-- Times ending in _ns are nanoseconds of the run's own clock; TIMESTAMP columns are UTC.
-- Event tables name their run by run_no, which only grows: rows of one run lie together.

CREATE TABLE runs (
    run_no INTEGER NOT NULL,
    run_id VARCHAR NOT NULL UNIQUE,
    -- the log this row was made from
    log_name VARCHAR NOT NULL,
    log_sha256 VARCHAR NOT NULL,
    log_bytes BIGINT NOT NULL,
    ingested_at TIMESTAMP NOT NULL,
    binned_at TIMESTAMP,
    notes VARCHAR,
    meta_stamp VARCHAR,
    -- header
    schema_version INTEGER NOT NULL,
    created_at TIMESTAMP,
    label VARCHAR NOT NULL,
    clock VARCHAR NOT NULL,
    device_key VARCHAR NOT NULL,
    device_name VARCHAR,
    device_json VARCHAR NOT NULL,
    versions_json VARCHAR NOT NULL,
    runner_version VARCHAR,
    mnn_version VARCHAR,
    -- request
    method VARCHAR,
    task VARCHAR,
    instruction VARCHAR,
    target_name VARCHAR,
    target_path VARCHAR,
    target_sha256 VARCHAR,
    drafter_name VARCHAR,
    drafter_path VARCHAR,
    drafter_sha256 VARCHAR,
    audio_path VARCHAR,
    audio_sha256 VARCHAR,
    audio_duration_s DOUBLE,
    window_id VARCHAR,
    view_start_s DOUBLE,
    view_end_s DOUBLE,
    budget BIGINT,
    width BIGINT,
    draft_cap BIGINT,
    threshold DOUBLE,
    search_window BIGINT,
    batch_tokens BIGINT,
    max_tokens BIGINT,
    plain_step BOOLEAN,
    drafter_pace_ms DOUBLE,
    emulated BOOLEAN NOT NULL,
    target_threads BIGINT,
    drafter_threads BIGINT,
    backend VARCHAR,
    precision VARCHAR,
    memory VARCHAR,
    repetition BIGINT,
    run_order BIGINT,
    warm_up BOOLEAN,
    group_id VARCHAR,
    -- outcome
    status VARCHAR NOT NULL,
    error VARCHAR,
    text VARCHAR,
    committed_tokens BIGINT NOT NULL,
    output_sha256 VARCHAR,
    elapsed_ms DOUBLE,
    response_ms DOUBLE,
    tps DOUBLE,
    rounds BIGINT NOT NULL,
    proposed BIGINT NOT NULL,
    accepted BIGINT NOT NULL,
    k1_rounds BIGINT NOT NULL,
    own_ms_per_round DOUBLE,
    total_ns BIGINT,
    draft_ns BIGINT,
    verify_ns BIGINT,
    overlap_ns BIGINT,
    idle_ns BIGINT,
    -- what rebuilds the record exactly
    header_json VARCHAR NOT NULL,
    end_json VARCHAR,
    problems_json VARCHAR NOT NULL,
    unknown_json VARCHAR NOT NULL,
    -- checked on every open
    span_rows BIGINT NOT NULL,
    round_rows BIGINT NOT NULL,
    publication_rows BIGINT NOT NULL,
    mark_rows BIGINT NOT NULL,
    piece_rows BIGINT NOT NULL,
    telemetry_rows BIGINT NOT NULL,
    other_rows BIGINT NOT NULL,
    checksum VARCHAR NOT NULL
);

-- raw_json holds the whole event when one of its values does not fit its column.
-- JSON with bytes in it that are no UTF-8 is kept as "hex:" and its bytes in hexadecimal.

CREATE TABLE spans (
    run_no INTEGER NOT NULL,
    ordinal BIGINT NOT NULL,
    lane VARCHAR,
    work VARCHAR,
    start_ns BIGINT,
    end_ns BIGINT,
    round BIGINT,
    operations BIGINT,
    extra_json VARCHAR,
    raw_json VARCHAR
);

CREATE TABLE rounds (
    run_no INTEGER NOT NULL,
    ordinal BIGINT NOT NULL,
    round BIGINT,
    start_ns BIGINT,
    end_ns BIGINT,
    width BIGINT,
    physical_width BIGINT,
    proposed BIGINT,
    accepted BIGINT,
    committed BIGINT[],
    candidates BIGINT[],
    origins VARCHAR,
    cursor_before BIGINT,
    cursor_after BIGINT,
    visible BIGINT,
    source_running BOOLEAN,
    width_reason VARCHAR,
    move_rules VARCHAR[],
    move_before BIGINT[],
    move_after BIGINT[],
    call_ns BIGINT,
    extra_json VARCHAR,
    raw_json VARCHAR
);

CREATE TABLE publications (
    run_no INTEGER NOT NULL,
    ordinal BIGINT NOT NULL,
    source VARCHAR,
    start_offset BIGINT,
    tokens BIGINT[],
    confidences DOUBLE[],
    time_ns BIGINT,
    received_ns BIGINT,
    extra_json VARCHAR,
    raw_json VARCHAR
);

CREATE TABLE marks (
    run_no INTEGER NOT NULL,
    ordinal BIGINT NOT NULL,
    name VARCHAR,
    time_ns BIGINT,
    token BIGINT,
    extra_json VARCHAR,
    raw_json VARCHAR
);

CREATE TABLE pieces (
    run_no INTEGER NOT NULL,
    token BIGINT NOT NULL,
    bytes BLOB NOT NULL
);

CREATE TABLE telemetry (
    run_no INTEGER NOT NULL,
    ordinal BIGINT NOT NULL,
    time_ns BIGINT,
    battery_temperature_c DOUBLE,
    battery_current_ma DOUBLE,
    battery_voltage_mv DOUBLE,
    charging BOOLEAN,
    thermal_status BIGINT,
    core_mhz DOUBLE[],
    online_mask BIGINT,
    extra_json VARCHAR,
    raw_json VARCHAR
);

-- Events that come once or twice in a run (engine, self_test), as they were written.
CREATE TABLE other_events (
    run_no INTEGER NOT NULL,
    ordinal BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    raw_json VARCHAR NOT NULL
);

CREATE TABLE tags (
    run_id VARCHAR NOT NULL,
    tag VARCHAR NOT NULL,
    PRIMARY KEY (run_id, tag)
);

CREATE TABLE self_tests (
    model_sha256 VARCHAR NOT NULL,
    cpu VARCHAR NOT NULL,
    settings VARCHAR NOT NULL,
    mnn_version VARCHAR NOT NULL,
    tested_at TIMESTAMP NOT NULL,
    raw_json VARCHAR NOT NULL,
    PRIMARY KEY (model_sha256, cpu, settings, mnn_version)
);

CREATE TABLE profiles (
    profile_id VARCHAR PRIMARY KEY,
    created_at TIMESTAMP NOT NULL,
    device_key VARCHAR,
    body_json VARCHAR NOT NULL
);

-- The two newest complete target-only runs of the same work: a run is compared with the newest one that is
-- not itself. Complete means that the output ended by itself or at its cap.
CREATE VIEW target_only_references AS
SELECT
    label, device_key, target_sha256, audio_sha256, view_start_s, view_end_s,
    task, instruction, max_tokens, precision, memory,
    max_by(
        {'run_no': run_no, 'run_id': run_id, 'output_sha256': output_sha256},
        row(coalesce(created_at, ingested_at), run_no),
        2
    ) AS newest
FROM runs
WHERE method = 'target-only' AND status IN ('eos', 'capped') AND binned_at IS NULL AND output_sha256 IS NOT NULL
GROUP BY ALL;

-- Every run with the answer to "did it give the tokens of target-only?": true, false or NULL (nothing to compare).
CREATE VIEW compared_runs AS
SELECT
    r.*,
    CASE WHEN f.newest[1].run_no = r.run_no THEN f.newest[2].run_id ELSE f.newest[1].run_id END AS reference_run_id,
    CASE
        WHEN r.status NOT IN ('eos', 'capped') THEN NULL
        WHEN f.newest[1].run_no = r.run_no THEN f.newest[2].output_sha256 = r.output_sha256
        ELSE f.newest[1].output_sha256 = r.output_sha256
    END AS matches_target_only
FROM runs r
LEFT JOIN target_only_references f
    ON f.label = r.label
    AND f.device_key = r.device_key
    AND f.target_sha256 = r.target_sha256
    AND f.audio_sha256 = r.audio_sha256
    AND f.instruction = r.instruction
    AND f.max_tokens = r.max_tokens
    AND f.view_start_s IS NOT DISTINCT FROM r.view_start_s
    AND f.view_end_s IS NOT DISTINCT FROM r.view_end_s
    AND f.task IS NOT DISTINCT FROM r.task
    AND f.precision IS NOT DISTINCT FROM r.precision
    AND f.memory IS NOT DISTINCT FROM r.memory;
