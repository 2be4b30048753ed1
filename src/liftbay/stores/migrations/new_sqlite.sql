CREATE TABLE liftbay_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT liftbay_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE runs (
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    submitted TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (number),
    UNIQUE (id)
);
CREATE TABLE results (
    run INTEGER NOT NULL,
    dataset_type TEXT NOT NULL,
    case_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    scene_code TEXT NOT NULL,
    outcome TEXT NOT NULL,
    main_metric TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (run, dataset_type, case_id, trial),
    FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
);
INSERT INTO liftbay_version (version_num) VALUES ('0001') RETURNING version_num;
ALTER TABLE runs ADD COLUMN results INTEGER DEFAULT '0' NOT NULL;
UPDATE runs SET results = (SELECT count(*) FROM results WHERE run = runs.number);
UPDATE results SET seq = numbered.place FROM (SELECT run, dataset_type, case_id, trial, row_number() OVER (PARTITION BY run ORDER BY seq, dataset_type, case_id, trial) AS place FROM results) AS numbered WHERE results.run = numbered.run AND results.dataset_type = numbered.dataset_type AND results.case_id = numbered.case_id AND results.trial = numbered.trial;
CREATE UNIQUE INDEX results_in_order ON results (run, seq);
UPDATE liftbay_version SET version_num='0002' WHERE liftbay_version.version_num = '0001';
CREATE TABLE spans (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (run, seq),
    FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
);
UPDATE liftbay_version SET version_num='0003' WHERE liftbay_version.version_num = '0002';
CREATE TABLE judge_answers (
    "key" TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY ("key")
);
UPDATE liftbay_version SET version_num='0004' WHERE liftbay_version.version_num = '0003';
CREATE TABLE baselines (
    name TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (name),
    FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
);
UPDATE liftbay_version SET version_num='0005' WHERE liftbay_version.version_num = '0004';
