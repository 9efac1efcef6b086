-- Runs under a width rule are decoded in another way than those that take as many candidates as the budget allows.
-- The rule is kept as it stands in the request, so that runs under different rules are not pooled either.

ALTER TABLE runs ADD COLUMN width_rule VARCHAR;

UPDATE runs SET width_rule = nullif(
    regexp_extract(
        header_json,
        '"width_rule":(\{"concurrent":\[[0-9,]*\],"idle":\[[0-9,]*\],"name":"(?:[^"\\]|\\.)*"\})',
        1
    ),
    ''
);
