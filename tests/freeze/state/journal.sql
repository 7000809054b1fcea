BEGIN TRANSACTION;
CREATE TABLE fleet_breakers (mode TEXT PRIMARY KEY, is_open BIGINT NOT NULL, reason TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL);
CREATE TABLE fleet_culprits (incident TEXT NOT NULL, culprit TEXT NOT NULL, machine TEXT NOT NULL, hardware TEXT, host TEXT NOT NULL, node TEXT, chip BIGINT, core_type TEXT NOT NULL, core_index BIGINT, nic TEXT, grounds TEXT NOT NULL, job TEXT NOT NULL, slice BIGINT NOT NULL, task BIGINT NOT NULL, module TEXT, fingerprint TEXT, at_ms BIGINT NOT NULL, home_slice BIGINT, home_task BIGINT, PRIMARY KEY (incident, culprit));
CREATE TABLE fleet_decisions (incident TEXT NOT NULL, machine TEXT NOT NULL, mode TEXT NOT NULL, action TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL, host TEXT NOT NULL, job TEXT NOT NULL, slices TEXT NOT NULL, decided_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL, PRIMARY KEY (incident, machine, mode));
CREATE TABLE fleet_forgets (machine TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL, PRIMARY KEY (machine, at_ms));
CREATE TABLE fleet_incidents (incident TEXT PRIMARY KEY, job TEXT NOT NULL, incarnation TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, detected_ms BIGINT NOT NULL, at_ms BIGINT NOT NULL, recorded_ms BIGINT NOT NULL, hosts BIGINT NOT NULL, slices BIGINT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE fleet_lock (name TEXT PRIMARY KEY, turns BIGINT NOT NULL);
INSERT INTO "fleet_lock" VALUES('fleet',10);
CREATE TABLE fleet_repairs (incident TEXT NOT NULL, machine TEXT NOT NULL, repair TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL, PRIMARY KEY (incident, machine));
CREATE TABLE fleet_schema (version BIGINT PRIMARY KEY, description TEXT NOT NULL);
INSERT INTO "fleet_schema" VALUES(1,'incidents, decisions, tasks');
INSERT INTO "fleet_schema" VALUES(2,'the order of hooks');
INSERT INTO "fleet_schema" VALUES(3,'lookups by place and name');
INSERT INTO "fleet_schema" VALUES(4,'when hooks began');
INSERT INTO "fleet_schema" VALUES(5,'where machines stood');
CREATE TABLE fleet_tasks (task TEXT PRIMARY KEY, incident TEXT NOT NULL, subject TEXT NOT NULL, hook TEXT NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL, lease_ms BIGINT NOT NULL, attempts BIGINT NOT NULL, not_before_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL, finished_ms BIGINT NOT NULL, outcome TEXT NOT NULL, output TEXT NOT NULL, ordinal BIGINT NOT NULL DEFAULT 0, begun_ms BIGINT NOT NULL DEFAULT 0);
INSERT INTO "fleet_tasks" VALUES('20261122T134819Z-a0030922

@HOOKS@/upload','20261122T134819Z-a0030922','','@HOOKS@/upload','done','',0,1,1795355310296,1795355300270,1795376900270,1795355300296,'exited with status 0','uploaded 20261122T134819Z-a0030922
',0,1795355300288);
INSERT INTO "fleet_tasks" VALUES('20261122T134819Z-a0030922

@HOOKS@/webhook','20261122T134819Z-a0030922','','@HOOKS@/webhook','done','',0,1,1795355310333,1795355300270,1795376900270,1795355300333,'exited with status 0','told
',1,1795355300297);
INSERT INTO "fleet_tasks" VALUES('20261122T134830Z-1c335203

@HOOKS@/upload','20261122T134830Z-1c335203','','@HOOKS@/upload','due','',0,1,1795355321232,1795355310993,1795376910993,0,'was interrupted, and is run again after the next start','uploaded 20261122T134830Z-1c335203
',0,1795355311046);
INSERT INTO "fleet_tasks" VALUES('20261122T134830Z-1c335203

@HOOKS@/webhook','20261122T134830Z-1c335203','','@HOOKS@/webhook','due','',0,0,1795355311042,1795355310993,1795376910993,0,'','',1,0);
CREATE INDEX fleet_culprits_by_machine ON fleet_culprits (machine, at_ms);
CREATE INDEX fleet_culprits_by_coordinate ON fleet_culprits (job, slice, task);
CREATE INDEX fleet_culprits_by_time ON fleet_culprits (at_ms);
CREATE INDEX fleet_decisions_by_action ON fleet_decisions (action, decided_ms);
CREATE INDEX fleet_decisions_by_machine ON fleet_decisions (machine, decided_ms);
CREATE INDEX fleet_tasks_by_state ON fleet_tasks (state, not_before_ms);
CREATE INDEX fleet_tasks_by_incident ON fleet_tasks (incident, subject);
CREATE INDEX fleet_culprits_by_place ON fleet_culprits (slice, task, fingerprint);
CREATE INDEX fleet_culprits_by_host ON fleet_culprits (host, at_ms);
CREATE INDEX fleet_culprits_by_node ON fleet_culprits (node, at_ms);
COMMIT;
