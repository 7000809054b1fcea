-- What a coordinator in a tenant's pod may do with the shared fleet history: add incidents of its
-- own, and read how far the time of decisions has come. It changes nothing that is there, decides
-- nothing, and reads no other tenant's incidents.
--
-- Run as the role that owns the tables (the remover's), in its database, once the remover
-- has made them, and again after an update of rapideye:
--   psql --dbname=fleet --file=coordinator-rights.sql
-- The roles are made before: this one, in which nobody logs in, and in it one for each tenant,
-- with a password of its own:
--   CREATE ROLE rapideye_coordinator NOLOGIN;
--   CREATE ROLE tenant_a LOGIN PASSWORD '…' CONNECTION LIMIT 50 IN ROLE rapideye_coordinator;
-- The server writes down which role recorded an incident, and its triggers and row-level
-- security, which the remover makes with the tables, keep roles apart. Two tenants with one role
-- are one tenant: they can exonerate, or accuse, each other's machines.
-- Coordinators then run with --removal=off: the decisions are the remover's, about the machines
-- that its --tenant-machines gives to the role.
-- Who could make tables or functions there could put them in the place of the history's
-- (PostgreSQL 15 has it so from the start).
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT SELECT ON fleet_schema TO rapideye_coordinator;
GRANT INSERT ON fleet_incidents, fleet_culprits TO rapideye_coordinator;
GRANT SELECT (incident) ON fleet_incidents TO rapideye_coordinator;
GRANT SELECT (decided_ms) ON fleet_decisions TO rapideye_coordinator;
GRANT SELECT (at_ms) ON fleet_forgets TO rapideye_coordinator;
GRANT SELECT (at_ms) ON fleet_breakers TO rapideye_coordinator;
