/**
 * Functions that take a whole group. `apply_group(commits, locks, me)`: one call is one transaction. First the advisory locks of all keys, in the order of their
 * numbers, which is the same for every gateway: two groups over the same sessions wait for each other instead of ending in a deadlock. Then each commit
 * behind a savepoint of its own. A group with very many keys takes one lock that keeps all others out.
 */
export const groupFunctions = `
CREATE FUNCTION apply_op(op jsonb, me bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  CASE op->>'op'
    WHEN 'message.append' THEN RETURN append_message(op);
    WHEN 'session.patch' THEN RETURN patch_session(op);
    WHEN 'session.put' THEN RETURN put_session(op);
    WHEN 'session.delete' THEN RETURN delete_session(op);
    WHEN 'transcript.prune' THEN RETURN prune_transcript(op);
    WHEN 'run.put' THEN RETURN put_run(op);
    WHEN 'run.delete' THEN RETURN delete_run(op);
    WHEN 'idempotency.put' THEN RETURN put_idempotency(op);
    WHEN 'kv.put' THEN RETURN put_value(op);
    WHEN 'kv.delete' THEN RETURN delete_value(op);
    WHEN 'systemEvent.add' THEN RETURN add_event(op);
    WHEN 'systemEvent.take' THEN RETURN take_events(op);
    WHEN 'delivery.accept' THEN RETURN accept_delivery(op);
    WHEN 'delivery.claim' THEN RETURN claim_delivery(op);
    WHEN 'delivery.step' THEN RETURN step_delivery(op);
    WHEN 'delivery.requeue' THEN RETURN requeue_delivery(op);
    WHEN 'delivery.finish' THEN RETURN finish_delivery(op);
    WHEN 'lease.acquire' THEN RETURN acquire_lease(op, me);
    WHEN 'lease.release' THEN RETURN release_lease(op, me);
    WHEN 'lease.check' THEN RETURN check_lease(op, me);
  END CASE;
END $$;

CREATE FUNCTION apply_group(commits text, locks text, me bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  space integer := hashtext(current_schema());
  keys jsonb := locks::jsonb;
  ops jsonb;
  op jsonb;
  results jsonb[];
  outcomes jsonb[] := '{}';
  detail text;
BEGIN
  IF jsonb_typeof(keys) = 'array' THEN
    PERFORM pg_advisory_xact_lock_shared(space, 0);
    PERFORM pg_advisory_xact_lock(sorted.number) FROM (
      SELECT DISTINCT hashtextextended(key, space) AS number FROM jsonb_array_elements_text(keys) key ORDER BY 1) sorted;
  ELSE
    PERFORM pg_advisory_xact_lock(space, 0);
  END IF;
  FOR ops IN SELECT jsonb_array_elements(commits::jsonb) LOOP
    BEGIN
      results := '{}';
      FOR op IN SELECT jsonb_array_elements(ops) LOOP
        results := results || apply_op(op, me);
      END LOOP;
      outcomes := outcomes || jsonb_build_object('results', to_jsonb(results));
    EXCEPTION
      WHEN SQLSTATE 'SV001' THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
        outcomes := outcomes || jsonb_build_object('refused', jsonb_build_object('code', SQLERRM, 'fields', detail::jsonb));
      WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR case_not_found THEN
        outcomes := outcomes || jsonb_build_object('refused', jsonb_build_object('code', 'store-invalid-op', 'fields', jsonb_build_object('reason', SQLERRM)));
    END;
  END LOOP;
  RETURN to_jsonb(outcomes)::text;
END $$;
`;
