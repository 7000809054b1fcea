#include "coordinator/fleet/tenant_guards.h"

namespace rapideye::coordinator {
namespace {

// session_user: SET ROLE does not change it, so members of one group are told apart. The function
// runs as the owner, and names the schema in each statement: a temporary table of the caller's
// would come before the history's otherwise.
constexpr char kIncidentGuard[] = R"sql(
CREATE FUNCTION fleet_guard_incident() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $guard$
DECLARE
  now_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  incidents bigint;
  bytes bigint;
BEGIN
  IF pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
    NEW.recorded_by := '';
    RETURN NEW;
  END IF;
  NEW.recorded_by := session_user;
  NEW.recorded_ms := now_ms;
  NEW.at_ms := least(greatest(NEW.detected_ms, 0), now_ms);
  EXECUTE format('SELECT count(*), coalesce(sum(octet_length(digest)), 0) FROM '
    '(SELECT digest FROM %I.fleet_incidents WHERE recorded_by = $1 AND recorded_ms > $2 '
    'LIMIT 1000) AS latest', TG_TABLE_SCHEMA)
    INTO incidents, bytes USING NEW.recorded_by, now_ms - 3600000;
  IF incidents >= 1000 OR bytes > 268435456 THEN
    RAISE EXCEPTION 'role % has recorded % incidents (% bytes) within an hour; try again later',
      session_user, incidents, bytes USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  RETURN NEW;
END $guard$)sql";

// xmin: the transaction that inserted the incident.
constexpr char kCulpritGuard[] = R"sql(
CREATE FUNCTION fleet_guard_culprit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $guard$
DECLARE
  incident record;
  culprits bigint;
BEGIN
  IF pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
    NEW.recorded_by := '';
    RETURN NEW;
  END IF;
  EXECUTE format('SELECT recorded_by, at_ms, job, xmin::text::bigint AS inserted_by '
    'FROM %I.fleet_incidents WHERE incident = $1', TG_TABLE_SCHEMA)
    INTO incident USING NEW.incident;
  IF incident.recorded_by IS DISTINCT FROM session_user::text
      OR incident.inserted_by <> txid_current() % 4294967296 THEN
    RAISE EXCEPTION 'incident %: a culprit is recorded together with its incident, by one role',
      NEW.incident USING ERRCODE = 'insufficient_privilege';
  END IF;
  EXECUTE format('SELECT count(*) FROM %I.fleet_culprits WHERE incident = $1', TG_TABLE_SCHEMA)
    INTO culprits USING NEW.incident;
  IF culprits >= 1000 THEN
    RAISE EXCEPTION 'incident %: more than 1000 culprits', NEW.incident
      USING ERRCODE = 'check_violation';
  END IF;
  NEW.recorded_by := session_user;
  NEW.at_ms := incident.at_ms;
  NEW.job := incident.job;
  RETURN NEW;
END $guard$)sql";

constexpr char kIncidentBounds[] = R"sql(
ALTER TABLE fleet_incidents ADD CONSTRAINT fleet_incidents_bounds CHECK (
  octet_length(incident) BETWEEN 1 AND 256 AND octet_length(job) <= 256
  AND octet_length(incarnation) <= 256 AND octet_length(cause) <= 256
  AND octet_length(detail) <= 256 AND octet_length(digest) <= 1048576
  AND confidence BETWEEN 0 AND 1 AND detected_ms BETWEEN 0 AND 253402300799999
  AND at_ms >= 0 AND recorded_ms >= 0
  AND hosts BETWEEN 0 AND 20000 AND slices BETWEEN 0 AND 20000) NOT VALID)sql";

constexpr char kCulpritBounds[] = R"sql(
ALTER TABLE fleet_culprits ADD CONSTRAINT fleet_culprits_bounds CHECK (
  octet_length(culprit) <= 256 AND octet_length(machine) BETWEEN 1 AND 512
  AND octet_length(hardware) <= 256 AND octet_length(host) <= 256 AND octet_length(node) <= 256
  AND octet_length(core_type) <= 256 AND octet_length(nic) <= 256
  AND grounds IN ('never', 'repetition', 'direct') AND octet_length(module) <= 256
  AND octet_length(fingerprint) <= 256 AND at_ms >= 0
  AND chip BETWEEN 0 AND 2147483647 AND core_index BETWEEN 0 AND 2147483647
  AND slice BETWEEN 0 AND 2147483647 AND task BETWEEN 0 AND 2147483647
  AND home_slice BETWEEN 0 AND 2147483647 AND home_task BETWEEN 0 AND 2147483647) NOT VALID)sql";

// Tells whether a role other than the owner may insert: then the author of a row is not known.
constexpr char kOthersMayWrite[] =
    " WHERE EXISTS (SELECT 1 FROM information_schema.table_privileges g JOIN pg_class c "
    "ON c.oid = 'fleet_incidents'::regclass WHERE g.table_name = 'fleet_incidents' "
    "AND g.privilege_type = 'INSERT' AND g.grantee <> pg_get_userbyid(c.relowner))";

}  // namespace

std::vector<std::string> TenantGuards() {
  const std::string others = kOthersMayWrite;
  return {
      // The bounds below hold for every change, also for rows that were there before.
      "UPDATE fleet_incidents SET hosts = greatest(least(hosts, 20000), 0), "
      "slices = greatest(least(slices, 20000), 0), "
      "confidence = CASE WHEN confidence BETWEEN 0 AND 1 THEN confidence ELSE 0 END, "
      "detected_ms = least(greatest(detected_ms, 0), 253402300799999), "
      "at_ms = greatest(at_ms, 0), recorded_ms = greatest(recorded_ms, 0)",
      "UPDATE fleet_incidents SET recorded_by = '?'" + others,
      "UPDATE fleet_culprits SET recorded_by = '?'" + others,
      "UPDATE fleet_decisions SET recorded_by = '?'" + others,
      kIncidentGuard,
      kCulpritGuard,
      "CREATE TRIGGER fleet_guard BEFORE INSERT ON fleet_incidents "
      "FOR EACH ROW EXECUTE FUNCTION fleet_guard_incident()",
      "CREATE TRIGGER fleet_guard BEFORE INSERT ON fleet_culprits "
      "FOR EACH ROW EXECUTE FUNCTION fleet_guard_culprit()",
      kIncidentBounds,
      kCulpritBounds,
      "ALTER TABLE fleet_incidents ENABLE ROW LEVEL SECURITY",
      "ALTER TABLE fleet_culprits ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY fleet_own ON fleet_incidents USING (recorded_by = session_user::text) "
      "WITH CHECK (recorded_by = session_user::text)",
      "CREATE POLICY fleet_own ON fleet_culprits USING (recorded_by = session_user::text) "
      "WITH CHECK (recorded_by = session_user::text)",
  };
}

}  // namespace rapideye::coordinator
