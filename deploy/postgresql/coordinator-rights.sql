-- What a coordinator in a tenant's pod may do with the shared fleet history: add incidents,
-- and read how far the time of its decisions has come. It changes nothing that is there, decides nothing,
-- and reads no other tenant's digest.
--
-- Run as the role that owns the tables (the remover's), in its database, once the remover
-- has made them, and again after an update of rapideye:
--   psql --dbname=fleet --file=coordinator-rights.sql
-- The role is made before, with a password of its own:
--   CREATE ROLE rapideye_coordinator LOGIN PASSWORD '…';
-- Coordinators then run with --removal=off: the decisions are the remover's.
GRANT SELECT ON fleet_schema TO rapideye_coordinator;
GRANT INSERT ON fleet_incidents, fleet_culprits TO rapideye_coordinator;
GRANT SELECT (incident) ON fleet_incidents TO rapideye_coordinator;
GRANT SELECT (decided_ms) ON fleet_decisions TO rapideye_coordinator;
GRANT SELECT (at_ms) ON fleet_forgets TO rapideye_coordinator;
GRANT SELECT (at_ms) ON fleet_breakers TO rapideye_coordinator;
