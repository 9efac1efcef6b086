-- Notebooks and reports: every version that was saved. What a body means is for the dashboard to say.
-- "undoes" names the version whose content an undo brought back; NULL for a change of one's own.

CREATE TABLE notebooks (
    notebook_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    saved_at TIMESTAMP NOT NULL,
    title VARCHAR NOT NULL,
    change VARCHAR NOT NULL,
    undoes INTEGER,
    body_json VARCHAR NOT NULL,
    PRIMARY KEY (notebook_id, version)
);
