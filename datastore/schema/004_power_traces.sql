-- Power counters of Perfetto traces: one row a counter, its readings as lists on the phone's boot-time clock.

CREATE TABLE power_traces (
    file_sha256 VARCHAR NOT NULL PRIMARY KEY,
    file_name VARCHAR NOT NULL,
    imported_at TIMESTAMP NOT NULL,
    boot_ns BIGINT,
    build VARCHAR,
    notes VARCHAR NOT NULL
);

CREATE TABLE power_counters (
    file_sha256 VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    unit VARCHAR NOT NULL,
    time_ns BIGINT[] NOT NULL,
    reading DOUBLE[] NOT NULL,
    PRIMARY KEY (file_sha256, ordinal)
);
