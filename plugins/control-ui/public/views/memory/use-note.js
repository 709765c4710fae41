import { useEffect, useRef, useState } from "preact/hooks";
import { inField, pathOfName, withLineEnds } from "../../core/note-facts.js";
import { forgetDraft, isConflict, keepDraft, keptDraft, readNote, saveNote } from "../../core/notes.js";
import { formatRoute, replace } from "../../core/router.js";
import { defaultAgentId, isOnline, noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { announce } from "../../ui/announce.js";

/** @typedef {import("../../core/note-facts.js").Note} Note */
/** @typedef {import("../../core/note-facts.js").NoteDraft} NoteDraft */

const KEEP_AFTER_MS = 300;

/**
 * A note while it is written. What is typed is kept in the tab until it is saved or thrown away, and a note that somebody else has changed meanwhile is never
 * written over unasked.
 * @param {{ agentId: string, path: string | undefined, query: string }} place `path`: undefined for a new note
 */
export function useNote({ agentId, path, query }) {
  const key = path ?? "";
  const [file, setFile] = useState(/** @type {Note | undefined} */ (path === undefined ? { path: "", missing: true } : undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const { draft, latest, setDraft } = useDraft(agentId, key);
  const [theirs, setTheirs] = useState(/** @type {Note | undefined} */ (undefined));
  const [failed, setFailed] = useState("");
  const [isBusy, setBusy] = useState(false);
  const read = async () => {
    if (path === undefined) return;
    try {
      setFile(await readNote(agentId, path));
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  };
  // While the connection was away somebody else may have written; what is typed here stays.
  useEffect(() => void (isOnline.value && read()), [isOnline.value]);
  const before = file && inField(file.content ?? "");
  const content = draft?.content ?? before ?? "";
  const isChanged = draft !== undefined && (draft.content !== before || Boolean(draft.name));
  const blocked = noAdminReason.value ?? (isBusy ? texts.beingSaved : isChanged ? undefined : texts.nothingChanged);

  const throwAway = () => {
    setDraft(undefined);
    setTheirs(undefined);
    setFailed("");
    forgetDraft(agentId, key);
  };
  /** @param {Partial<NoteDraft>} change */
  const type = (change) => {
    const next = { content, hash: file?.hash ?? null, ...latest.current, ...change };
    if (path !== undefined && next.content === before && next.hash === file?.hash) return throwAway();
    // Another name is another note.
    if (change.name !== undefined) setTheirs(undefined);
    setDraft(next);
  };
  /** @param {string} name @param {NoteDraft} sent @param {Note} saved */
  const written = (name, sent, saved) => {
    const later = latest.current?.content;
    throwAway();
    if (later === undefined || later === sent.content) return replace(noteAddress(agentId, name, { query }));
    // Somebody who types on while a note is saved stays in the editor.
    const rest = { content: later, hash: saved.hash ?? null };
    keepDraft(agentId, name, rest);
    if (path === undefined) return replace(noteAddress(agentId, name, { query, isEdit: true }));
    setFile(saved);
    setDraft(rest);
  };
  /** @param {string | null} [hash] of the state that is written over */
  const save = async (hash = draft?.hash ?? null) => {
    if (blocked || !draft) return;
    const named = path === undefined ? pathOfName(draft.name ?? "") : { path };
    if (named.path === undefined) return setFailed(named.problem ?? "");
    setBusy(true);
    setFailed("");
    try {
      const text = withLineEnds(draft.content, theirs?.content ?? file?.content);
      const saved = await saveNote(agentId, named.path, { content: text, hash });
      announce(texts.saved({ path: named.path, what: saved.isIndexed ? "" : texts.searchFindsLittle }));
      written(named.path, draft, saved.file);
    } catch (failure) {
      // Their text may be gone again, or not readable: then only the reason is shown.
      if (isConflict(failure)) setTheirs(await readNote(agentId, named.path).catch(() => undefined));
      setFailed(/** @type {Error} */ (failure).message);
    }
    setBusy(false);
  };
  const takeTheirs = () => {
    if (!theirs) return;
    throwAway();
    if (path === undefined) return replace(noteAddress(agentId, theirs.path, { query }));
    setFile(theirs);
  };
  return { file, error, draft, theirs, failed, isBusy, content, isChanged, blocked, read, type, throwAway, save, takeTheirs };
}

/** Address of a note, for reading or for editing. @param {string} agentId @param {string} path @param {{ query: string, isEdit?: boolean }} how */
export function noteAddress(agentId, path, { query, isEdit = false }) {
  const a = agentId === defaultAgentId.value ? undefined : agentId;
  return formatRoute("memory", `file/${path}`, { q: query, a, e: isEdit ? "1" : undefined });
}

/**
 * Draft of a note; it is written into the tab a moment after the last key and when the editor is left.
 * @param {string} agentId
 * @param {string} key
 */
function useDraft(agentId, key) {
  const [draft, show] = useState(() => keptDraft(agentId, key));
  const latest = useRef(draft);
  useEffect(() => {
    if (!draft) return;
    const timer = setTimeout(() => keepDraft(agentId, key, draft), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft]);
  useEffect(() => {
    const keep = () => latest.current && keepDraft(agentId, key, latest.current);
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, []);
  /** @param {NoteDraft | undefined} next */
  const setDraft = (next) => {
    latest.current = next;
    show(next);
  };
  return { draft, latest, setDraft };
}
