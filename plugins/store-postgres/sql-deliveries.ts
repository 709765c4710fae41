/** Functions for the operations on deliveries and leases; see `sql-operations.ts`. */
export const deliveryFunctions = `
CREATE FUNCTION shown(d deliveries) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT to_jsonb(d) - 'payload' - 'ended_by_server' $$;

CREATE FUNCTION make_room(bytes bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE waiting record;
BEGIN
  SELECT count(*) AS n, coalesce(sum(payload_bytes), 0)::bigint AS bytes INTO waiting FROM deliveries WHERE ended_at IS NULL;
  IF waiting.n < 2000 AND waiting.bytes + bytes <= 268435456 THEN RETURN; END IF;
  PERFORM refuse('deliveries-full', jsonb_build_object('rows', waiting.n, 'bytes', waiting.bytes));
END $$;

CREATE FUNCTION accept_delivery(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  r deliveries := jsonb_populate_record(NULL::deliveries, op->'row');
  known deliveries;
BEGIN
  IF r.idem_key IS NOT NULL THEN
    SELECT * INTO known FROM deliveries d WHERE d.idem_scope = r.idem_scope AND d.idem_key = r.idem_key AND d.fingerprint = r.fingerprint FOR UPDATE;
    IF FOUND THEN
      IF known.ended_at IS NULL OR clock_timestamp() - known.ended_by_server <= (CASE known.dir WHEN 'in' THEN interval '7 days' ELSE interval '1 day' END) THEN
        RETURN jsonb_build_object('known', shown(known));
      END IF;
      UPDATE deliveries d SET idem_scope = NULL, idem_key = NULL, fingerprint = NULL WHERE d.id = known.id;
    END IF;
  END IF;
  IF r.ended_at IS NULL THEN PERFORM make_room(r.payload_bytes); END IF;
  INSERT INTO deliveries (uid, dir, lane, idem_scope, idem_key, fingerprint, state, attempt, created_at, updated_at, expires_at, ended_at, ended_by_server, payload_bytes, steps, result, payload)
  VALUES (r.uid, r.dir, r.lane, r.idem_scope, r.idem_key, r.fingerprint, r.state, 0, r.created_at, r.created_at, r.expires_at, r.ended_at,
    CASE WHEN r.ended_at IS NULL THEN NULL ELSE clock_timestamp() END, r.payload_bytes, '{}', r.result, r.payload)
  ON CONFLICT (uid) DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO known FROM deliveries d WHERE d.uid = r.uid;
    PERFORM refuse('exists', jsonb_build_object('kind', 'delivery', 'key', r.uid, 'row', shown(known)));
  END IF;
  RETURN '{}';
END $$;

CREATE FUNCTION find_delivery(op jsonb, expected jsonb) RETURNS deliveries LANGUAGE plpgsql AS $$
DECLARE d deliveries;
BEGIN
  SELECT * INTO d FROM deliveries f WHERE f.uid = op->>'uid' FOR UPDATE;
  IF FOUND AND expected ? d.state THEN RETURN d; END IF;
  PERFORM refuse('delivery-state', jsonb_build_object('key', op->>'uid', 'expected', coalesce((SELECT string_agg(x, ' or ') FROM jsonb_array_elements_text(expected) x), ''),
    'found', coalesce(d.state, 'absent'), 'row', shown(d)));
END $$;

CREATE FUNCTION fence_delivery(d deliveries) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse('fenced', jsonb_build_object('what', 'delivery "' || d.uid || '"', 'row', shown(d)));
END $$;

CREATE FUNCTION expect_owner(d deliveries, owner jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF jsonb_typeof(owner) = 'null' THEN
    IF d.state NOT IN ('running', 'sending') OR d.lease_boot IS NULL THEN RETURN; END IF;
  ELSIF d.lease_boot = owner->>'leaseBoot' AND d.attempt = (owner->>'attempt')::bigint THEN RETURN;
  END IF;
  PERFORM fence_delivery(d);
END $$;

CREATE FUNCTION claim_delivery(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE d deliveries := find_delivery(op, '["accepted", "uncertain"]');
BEGIN
  IF op->>'attempt' IS NOT NULL AND d.attempt <> (op->>'attempt')::bigint THEN PERFORM fence_delivery(d); END IF;
  UPDATE deliveries f SET state = op->>'to', attempt = f.attempt + 1, not_before = NULL, lease_boot = op->>'leaseBoot', updated_at = (op->>'at')::bigint WHERE f.id = d.id;
  RETURN '{}';
END $$;

-- The last of two members of one name is what JSON.parse returns: a step is added as text, because jsonb does not take every text.
CREATE FUNCTION step_delivery(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  d deliveries := find_delivery(op, '["running", "sending"]');
  added text;
BEGIN
  IF d.lease_boot IS DISTINCT FROM op->>'leaseBoot' OR d.attempt <> (op->>'attempt')::bigint THEN PERFORM fence_delivery(d); END IF;
  added := CASE WHEN d.steps = '{}' THEN '{' ELSE left(d.steps, -1) || ',' END || (op->>'member') || '}';
  IF octet_length(added) > 65536 THEN
    PERFORM refuse('store-invalid-op', jsonb_build_object('reason', 'a steps of ' || octet_length(added) || ' bytes; at most 65536 are kept with a delivery'));
  END IF;
  UPDATE deliveries f SET steps = added, updated_at = (op->>'at')::bigint WHERE f.id = d.id;
  RETURN '{}';
END $$;

CREATE FUNCTION requeue_delivery(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE d deliveries := find_delivery(op, op->'from');
BEGIN
  PERFORM expect_owner(d, op->'owner');
  IF d.payload IS NULL THEN
    PERFORM refuse('delivery-state', jsonb_build_object('key', d.uid, 'expected', 'still with its payload', 'found', 'without it', 'row', shown(d)));
  END IF;
  IF d.ended_at IS NOT NULL THEN PERFORM make_room(d.payload_bytes); END IF;
  UPDATE deliveries f SET state = op->>'to', not_before = (op->>'notBefore')::bigint, attempt = coalesce((op->>'attempt')::bigint, f.attempt),
    expires_at = coalesce((op->>'expiresAt')::bigint, f.expires_at), result = coalesce(op->>'result', f.result), lease_boot = NULL, ended_at = NULL, ended_by_server = NULL,
    updated_at = (op->>'at')::bigint WHERE f.id = d.id;
  RETURN '{}';
END $$;

CREATE FUNCTION finish_delivery(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE d deliveries := find_delivery(op, op->'from');
BEGIN
  PERFORM expect_owner(d, op->'owner');
  UPDATE deliveries f SET state = op->>'state', result = op->>'result', lease_boot = NULL, not_before = NULL, ended_at = (op->>'at')::bigint,
    ended_by_server = clock_timestamp(), updated_at = (op->>'at')::bigint,
    payload = CASE op->>'state' WHEN 'done' THEN NULL ELSE f.payload END, payload_bytes = CASE op->>'state' WHEN 'done' THEN 0 ELSE f.payload_bytes END
  WHERE f.id = d.id;
  RETURN '{}';
END $$;

-- Only a gateway that lives keeps another one out; the clock that decides is the database's.
CREATE FUNCTION acquire_lease(op jsonb, me bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  holder record;
  next bigint;
BEGIN
  PERFORM 1 FROM gateway g WHERE g.id = me AND g.fenced_at IS NULL AND g.lease_until > clock_timestamp() FOR SHARE;
  IF NOT FOUND THEN PERFORM refuse('fenced', jsonb_build_object('what', 'this gateway')); END IF;
  SELECT l.token, l.gateway_id INTO holder FROM lease l JOIN gateway g ON g.id = l.gateway_id
    WHERE l.name = op->>'name' AND l.gateway_id <> me AND g.fenced_at IS NULL AND g.lease_until > clock_timestamp() FOR UPDATE OF l;
  IF FOUND THEN PERFORM refuse('fenced', jsonb_build_object('what', 'lease "' || (op->>'name') || '"')); END IF;
  next := nextval('lease_token');
  INSERT INTO lease AS l (name, gateway_id, token, owner) VALUES (op->>'name', me, next, op->>'owner')
    ON CONFLICT (name) DO UPDATE SET gateway_id = excluded.gateway_id, token = excluded.token, owner = excluded.owner;
  RETURN jsonb_build_object('version', next);
END $$;

CREATE FUNCTION release_lease(op jsonb, me bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE removed integer;
BEGIN
  DELETE FROM lease l WHERE l.name = op->>'name' AND l.token = (op->>'token')::bigint AND l.gateway_id = me;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN jsonb_build_object('removed', removed);
END $$;

-- A takeover waits for the commit that holds this row, or the commit sees the new token.
CREATE FUNCTION check_lease(op jsonb, me bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM lease l WHERE l.name = op->>'name' AND l.token = (op->>'token')::bigint AND l.gateway_id = me FOR SHARE;
  IF NOT FOUND THEN PERFORM refuse('fenced', jsonb_build_object('what', 'lease "' || (op->>'name') || '"')); END IF;
  RETURN '{}';
END $$;
`;
