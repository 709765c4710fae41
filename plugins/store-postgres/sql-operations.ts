/**
 * Functions for the operations of a commit. Each takes the operation as `encodeOp` wrote it, and returns its result; a failed condition is raised by `refuse` and undoes
 * the commit in `apply_group`. Whoever gets here holds the advisory locks of all keys that the group touches.
 */
export const operationFunctions = `
CREATE FUNCTION refuse(code text, fields jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'SV001', MESSAGE = code, DETAIL = fields::text;
END $$;

CREATE FUNCTION expect_transcript(op_key text, expected text, present text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF expected IS NULL OR expected IS NOT DISTINCT FROM present THEN RETURN; END IF;
  PERFORM refuse('session-changed', jsonb_build_object('key', op_key, 'expected', expected, 'found', coalesce(present, 'none')));
END $$;

CREATE FUNCTION put_session_row(r sessions, is_label_unique boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE other text;
BEGIN
  IF is_label_unique AND r.label IS NOT NULL THEN
    SELECT s.key INTO other FROM sessions s WHERE s.agent_id = r.agent_id AND s.label = r.label AND s.key <> r.key LIMIT 1;
    IF FOUND THEN PERFORM refuse('label-in-use', jsonb_build_object('label', r.label, 'key', other)); END IF;
  END IF;
  INSERT INTO sessions (key, session_id, agent_id, kind, updated_at, last_interaction_at, archived, label, spawned_by, title, key_fold, label_fold, title_fold, body)
  VALUES (r.key, r.session_id, r.agent_id, r.kind, r.updated_at, r.last_interaction_at, r.archived, r.label, r.spawned_by, r.title, r.key_fold, r.label_fold, r.title_fold, r.body)
  ON CONFLICT (key) DO UPDATE SET session_id = excluded.session_id, agent_id = excluded.agent_id, kind = excluded.kind, updated_at = excluded.updated_at,
    last_interaction_at = excluded.last_interaction_at, archived = excluded.archived, label = excluded.label, spawned_by = excluded.spawned_by, title = excluded.title,
    key_fold = excluded.key_fold, label_fold = excluded.label_fold, title_fold = excluded.title_fold, body = excluded.body;
END $$;

CREATE FUNCTION put_session(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  r sessions := jsonb_populate_record(NULL::sessions, op->'row');
  present sessions;
BEGIN
  IF (op->>'ifAbsent')::boolean OR op->>'expectedSessionId' IS NOT NULL THEN
    SELECT * INTO present FROM sessions s WHERE s.key = r.key FOR UPDATE;
    IF (op->>'ifAbsent')::boolean AND present.key IS NOT NULL THEN
      PERFORM refuse('exists', jsonb_build_object('kind', 'session', 'key', r.key, 'row', to_jsonb(present)));
    END IF;
    PERFORM expect_transcript(r.key, op->>'expectedSessionId', present.session_id);
  END IF;
  PERFORM put_session_row(r, (op->>'uniqueLabel')::boolean);
  RETURN '{}';
END $$;

CREATE FUNCTION patch_session(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  present sessions;
  merged jsonb;
  counter record;
BEGIN
  SELECT * INTO present FROM sessions s WHERE s.key = op->>'key' FOR UPDATE;
  IF NOT FOUND THEN PERFORM refuse('session-missing', jsonb_build_object('key', op->>'key')); END IF;
  PERFORM expect_transcript(op->>'key', op->>'expectedSessionId', present.session_id);
  present := jsonb_populate_record(present, op->'columns');
  merged := present.body::jsonb || (op->'patch');
  merged := merged - ARRAY(SELECT p.key FROM jsonb_each(op->'patch') p WHERE p.value = 'null');
  FOR counter IN SELECT * FROM jsonb_each_text(op->'add') LOOP
    merged := jsonb_set(merged, ARRAY[counter.key], to_jsonb(greatest(0, coalesce((merged->>counter.key)::numeric, 0) + counter.value::numeric)));
  END LOOP;
  present.body := merged::text;
  PERFORM put_session_row(present, (op->>'uniqueLabel')::boolean);
  RETURN '{}';
END $$;

CREATE FUNCTION delete_session(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  present sessions;
  removed integer;
BEGIN
  SELECT * INTO present FROM sessions s WHERE s.key = op->>'key' FOR UPDATE;
  PERFORM expect_transcript(op->>'key', op->>'expectedSessionId', present.session_id);
  IF (op->>'ifNoEvents')::boolean AND EXISTS (SELECT 1 FROM system_events e WHERE e.session_key = op->>'key') THEN
    PERFORM refuse('events-waiting', jsonb_build_object('key', op->>'key'));
  END IF;
  IF present.key IS NOT NULL AND (op->>'deleteTranscript')::boolean THEN
    DELETE FROM transcripts t WHERE t.session_id = present.session_id;
    DELETE FROM messages m WHERE m.session_id = present.session_id;
  END IF;
  DELETE FROM system_events e WHERE e.session_key = op->>'key';
  DELETE FROM sessions s WHERE s.key = op->>'key';
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN jsonb_build_object('removed', removed);
END $$;

-- The row lock of the transcript orders appends of all gateways.
CREATE FUNCTION append_message(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  next bigint;
BEGIN
  INSERT INTO transcripts AS t (session_id, first_seq, last_seq, last_at) VALUES (op->>'sessionId', 1, 1, (op->>'ts')::bigint)
    ON CONFLICT (session_id) DO UPDATE SET last_seq = t.last_seq + 1, last_at = excluded.last_at RETURNING t.last_seq INTO next;
  INSERT INTO messages (session_id, seq, id, ts, role, run_id, body)
    VALUES (op->>'sessionId', next, op->>'id', (op->>'ts')::bigint, op->>'role', op->>'runId', op->>'body')
    ON CONFLICT (session_id, id) DO NOTHING;
  IF NOT FOUND THEN PERFORM refuse('exists', jsonb_build_object('kind', 'message', 'key', op->>'id')); END IF;
  RETURN jsonb_build_object('seq', next);
END $$;

CREATE FUNCTION prune_transcript(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted text := op->>'sessionId';
  pruned integer;
  first bigint;
BEGIN
  PERFORM 1 FROM transcripts t WHERE t.session_id = wanted FOR UPDATE;
  IF NOT FOUND OR EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = wanted) THEN RETURN '{"removed": 0}'; END IF;
  DELETE FROM messages m WHERE m.session_id = wanted AND m.seq IN (SELECT o.seq FROM messages o WHERE o.session_id = wanted ORDER BY o.seq LIMIT 500);
  GET DIAGNOSTICS pruned = ROW_COUNT;
  SELECT min(m.seq) INTO first FROM messages m WHERE m.session_id = wanted;
  IF first IS NULL THEN DELETE FROM transcripts t WHERE t.session_id = wanted;
  ELSE UPDATE transcripts t SET first_seq = first WHERE t.session_id = wanted;
  END IF;
  RETURN jsonb_build_object('removed', pruned);
END $$;

CREATE FUNCTION put_run(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  r runs := jsonb_populate_record(NULL::runs, op->'row');
  present runs;
BEGIN
  SELECT * INTO present FROM runs o WHERE o.run_id = r.run_id FOR UPDATE;
  IF (op->>'ifAbsent')::boolean AND present.run_id IS NOT NULL THEN
    PERFORM refuse('exists', jsonb_build_object('kind', 'run', 'key', r.run_id, 'row', to_jsonb(present)));
  END IF;
  IF jsonb_typeof(op->'ifState') = 'array' AND (present.run_id IS NULL OR NOT op->'ifState' ? present.state) THEN
    PERFORM refuse('run-state', jsonb_build_object('key', r.run_id, 'expected', (SELECT string_agg(x, ' or ') FROM jsonb_array_elements_text(op->'ifState') x),
      'found', coalesce(present.state, 'absent'), 'row', to_jsonb(present)));
  END IF;
  IF op->>'ifOwner' IS NOT NULL AND present.boot_id IS DISTINCT FROM op->>'ifOwner' THEN
    PERFORM refuse('fenced', jsonb_build_object('what', 'run "' || r.run_id || '"', 'row', to_jsonb(present)));
  END IF;
  INSERT INTO runs (run_id, session_key, session_id, agent_id, state, trigger, boot_id, created_at, started_at, ended_at, finished_at, outcome)
  VALUES (r.run_id, r.session_key, r.session_id, r.agent_id, r.state, r.trigger, r.boot_id, r.created_at, r.started_at, r.ended_at, r.finished_at, r.outcome)
  ON CONFLICT (run_id) DO UPDATE SET session_key = excluded.session_key, session_id = excluded.session_id, agent_id = excluded.agent_id, state = excluded.state,
    trigger = excluded.trigger, boot_id = excluded.boot_id, created_at = excluded.created_at, started_at = excluded.started_at, ended_at = excluded.ended_at,
    finished_at = excluded.finished_at, outcome = excluded.outcome, stored_at = clock_timestamp();
  RETURN '{}';
END $$;

CREATE FUNCTION delete_run(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  present runs;
  removed integer;
BEGIN
  SELECT * INTO present FROM runs o WHERE o.run_id = op->>'runId' FOR UPDATE;
  IF present.state IN ('queued', 'running') THEN
    PERFORM refuse('run-state', jsonb_build_object('key', op->>'runId', 'expected', 'ended', 'found', present.state, 'row', to_jsonb(present)));
  END IF;
  DELETE FROM runs o WHERE o.run_id = op->>'runId';
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN jsonb_build_object('removed', removed);
END $$;

CREATE FUNCTION put_idempotency(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  r idempotency := jsonb_populate_record(NULL::idempotency, op->'row');
  present idempotency;
BEGIN
  IF (op->>'ifAbsent')::boolean THEN
    INSERT INTO idempotency (family, key, value, created_at, expires_at) VALUES (r.family, r.key, r.value, r.created_at, r.expires_at) ON CONFLICT (family, key) DO NOTHING;
    IF FOUND THEN RETURN '{}'; END IF;
    SELECT * INTO present FROM idempotency i WHERE i.family = r.family AND i.key = r.key;
    PERFORM refuse('exists', jsonb_build_object('kind', 'idempotency key', 'key', r.family || ':' || r.key, 'row', to_jsonb(present)));
  END IF;
  INSERT INTO idempotency (family, key, value, created_at, expires_at) VALUES (r.family, r.key, r.value, r.created_at, r.expires_at)
    ON CONFLICT (family, key) DO UPDATE SET value = excluded.value, created_at = excluded.created_at, expires_at = excluded.expires_at;
  RETURN '{}';
END $$;

CREATE FUNCTION expect_version(op jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE found_version bigint;
BEGIN
  IF op->>'ifVersion' IS NULL THEN RETURN; END IF;
  SELECT k.version INTO found_version FROM kv k WHERE k.scope = op->>'scope' AND k.key = op->>'key' FOR UPDATE;
  IF found_version IS NOT DISTINCT FROM (op->>'ifVersion')::bigint THEN RETURN; END IF;
  PERFORM refuse('kv-changed', jsonb_build_object('key', (op->>'scope') || ':' || (op->>'key'), 'expected', op->'ifVersion', 'found', coalesce(found_version::text, 'none')));
END $$;

CREATE FUNCTION put_value(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE next bigint := nextval('kv_version');
BEGIN
  IF (op->>'ifAbsent')::boolean THEN
    INSERT INTO kv (scope, key, value, version) VALUES (op->>'scope', op->>'key', op->>'value', next) ON CONFLICT (scope, key) DO NOTHING;
    IF NOT FOUND THEN PERFORM refuse('exists', jsonb_build_object('kind', 'value', 'key', (op->>'scope') || ':' || (op->>'key'))); END IF;
    RETURN jsonb_build_object('version', next);
  END IF;
  PERFORM expect_version(op);
  INSERT INTO kv (scope, key, value, version) VALUES (op->>'scope', op->>'key', op->>'value', next)
    ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, version = excluded.version;
  RETURN jsonb_build_object('version', next);
END $$;

CREATE FUNCTION delete_value(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE removed integer;
BEGIN
  PERFORM expect_version(op);
  DELETE FROM kv k WHERE k.scope = op->>'scope' AND k.key = op->>'key';
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN jsonb_build_object('removed', removed);
END $$;

CREATE FUNCTION add_event(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  last system_events;
  waiting bigint;
BEGIN
  SELECT * INTO last FROM system_events e WHERE e.session_key = op->>'sessionKey' ORDER BY e.row DESC LIMIT 1;
  IF last.same = op->>'same' THEN
    IF (op->>'wake')::integer = 1 AND last.wake = 0 THEN UPDATE system_events e SET wake = 1 WHERE e.row = last.row; END IF;
    RETURN '{"coalesced": true}';
  END IF;
  SELECT count(*) INTO waiting FROM system_events e WHERE e.session_key = op->>'sessionKey';
  IF waiting >= 1000 THEN PERFORM refuse('system-events-full', jsonb_build_object('count', waiting, 'place', 'session "' || (op->>'sessionKey') || '"')); END IF;
  SELECT count(*) INTO waiting FROM (SELECT 1 FROM system_events LIMIT 10000) AS known;
  IF waiting >= 10000 THEN PERFORM refuse('system-events-full', jsonb_build_object('count', waiting, 'place', 'all sessions together')); END IF;
  INSERT INTO system_events (session_key, wake, same, body) VALUES (op->>'sessionKey', (op->>'wake')::integer, op->>'same', op->>'body');
  RETURN '{}';
END $$;

CREATE FUNCTION take_events(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted bigint[] := ARRAY(SELECT DISTINCT id::bigint FROM jsonb_array_elements_text(op->'ids') id ORDER BY 1);
  removed integer;
BEGIN
  DELETE FROM system_events e WHERE e.row = ANY (wanted);
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF (op->>'all')::boolean AND removed < cardinality(wanted) THEN
    PERFORM refuse('events-taken', jsonb_build_object('missing', cardinality(wanted) - removed, 'count', jsonb_array_length(op->'ids')));
  END IF;
  RETURN jsonb_build_object('removed', removed);
END $$;
`;
