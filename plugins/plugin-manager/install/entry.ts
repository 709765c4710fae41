import { isRecord, messageOf } from "svc/sdk";
import { type Consent, decideConsent } from "./consent.ts";
import type { InstallProposal } from "./install.ts";

/** Keys of `plugins.entries.<id>` that an installation sets; the rest of an entry is the operator's. */
export interface EntryChange {
  enabled?: boolean;
  grants?: string[];
}

/** The entry of one plugin in a config, as far as it matters here. */
export function entryOf(config: unknown, id: string): EntryChange | undefined {
  const plugins = isRecord(config) && isRecord(config.plugins) ? config.plugins : {};
  const entries = isRecord(plugins.entries) ? plugins.entries : {};
  return Object.hasOwn(entries, id) ? (entries[id] as EntryChange) : undefined;
}

/** Config that an installation writes to. */
export interface EntryStore {
  config: unknown;
  /** Writes the entry of a plugin by the one write pipeline; null removes it. */
  write(id: string, change: EntryChange | null): Promise<void>;
  onWarning(text: string): void;
}

/** Wishes of the operator about a plugin that is being installed. */
export interface EntryWish {
  enabled: boolean;
  /** Permissions to grant, comma-separated. */
  grant?: string | undefined;
  grantAll: boolean;
}

/**
 * Makes the step of an installation that writes the config: the entry comes before the files, and says again what it said when they cannot be put in
 * place. `consents` are known after it.
 */
export function entryStep(store: EntryStore, { enabled, grant, grantAll }: EntryWish) {
  const decided: { consents: readonly Consent[] } = { consents: [] };
  return {
    decided,
    async accept({ manifest, isUpdate }: InstallProposal): Promise<() => Promise<void>> {
      const { id, permissions = [] } = manifest;
      const entry = entryOf(store.config, id);
      // Grants of a different package with the same id do not carry over to this one.
      const before = isUpdate ? (entry?.grants ?? []) : [];
      decided.consents = decideConsent(permissions, { grant, all: grantAll, before });
      const grants = decided.consents.filter((c) => c.granted).map((c) => c.permission);
      await store.write(id, { enabled, ...(grants.length > 0 || entry?.grants?.length ? { grants } : {}) });
      return () => takeBack(store, id, entry);
    },
  };
}

/** The entry says again what it said: nobody shall find a grant for files that are not there. */
async function takeBack(store: EntryStore, id: string, before: EntryChange | undefined): Promise<void> {
  const again = { enabled: before?.enabled !== false, grants: before?.grants ?? [] };
  await store.write(id, before ? again : null).catch((error: unknown) => {
    store.onWarning(`plugins.entries.${id} could not be put back as it was: ${messageOf(error)}`);
  });
}
