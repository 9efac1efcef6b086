-- Rates that other programs measured (MNN's llm_bench, llama-bench): one row a test, never mixed with runs of ours.

CREATE TABLE foreign_results (
    file_sha256 VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    file_name VARCHAR NOT NULL,
    imported_at TIMESTAMP NOT NULL,
    tool VARCHAR NOT NULL,
    model VARCHAR,
    device VARCHAR,
    backend VARCHAR,
    threads BIGINT,
    test VARCHAR NOT NULL,
    prompt_tokens BIGINT,
    generated_tokens BIGINT,
    tps DOUBLE,
    sd_tps DOUBLE,
    samples BIGINT,
    settings_json VARCHAR NOT NULL,
    notes VARCHAR NOT NULL,
    PRIMARY KEY (file_sha256, ordinal)
);
