import type { SecretRef } from "../../sdk/config/fields.ts";
import type { Env } from "../../sdk/types/common.ts";
import { askExec } from "./exec-provider.ts";
import { askFile } from "./file-provider.ts";
import { isActiveSecret, secretOwner } from "./owner.ts";
import type { EnvProvider, SecretAnswer, SecretProvider, SecretQuestion } from "./provider.ts";
import { type SecretSite, secretSites } from "./ref.ts";
import type { ResolvedRef, SecretFault, SecretState } from "./state.ts";

/** Input for resolving the secrets of one activation. */
export interface SecretsQuestion {
  /** After substitution; refs in place. */
  tree: unknown;
  /** Effective `secrets`. */
  secrets: { providers: Readonly<Record<string, SecretProvider>>; defaults: Readonly<Record<string, string | undefined>> };
  env: Env;
  configDir: string;
  /** Refs of the snapshot in force. */
  previous?: ReadonlyMap<string, ResolvedRef> | undefined;
  /** Only providers that an owner of these needs are asked; absent = all. */
  owners?: ReadonlySet<string> | undefined;
  /** False: programs are not run. */
  exec?: boolean | undefined;
  /** Answers that this activation has already; what they hold is not asked again. */
  fresh?: ReadonlyMap<string, ResolvedRef> | undefined;
  signal?: AbortSignal | undefined;
}

/** Owners that never go on with an old value: whoever they let in is decided by it. */
const neverStale = new Set(["gateway.auth"]);

/** A site with everything that decides about its value. */
interface Wanted extends SecretSite {
  dotted: string;
  owner: string;
  alias: string;
  provider: SecretProvider | undefined;
  fingerprint: string;
}

/**
 * Asks every needed provider once, all at the same time, and tells per ref what came of it. Never throws for what a provider does.
 * A ref that fails keeps its previous value when neither the ref nor its provider's config changed.
 * @returns `refs` for the next activation: values included, so it is never printed
 */
export async function resolveSecrets(q: SecretsQuestion): Promise<{ refs: Map<string, ResolvedRef>; state: SecretState }> {
  const wanted = secretSites(q.tree)
    .filter(({ path }) => isActiveSecret(path, q.tree))
    .map((site) => toWanted(site, q));
  const answers = await askAll(wanted, q);
  const known = new Map(
    [...(q.previous?.values() ?? [])].flatMap((ref) => (ref.value === undefined ? [] : [[ref.fingerprint, ref.value]])),
  );
  const refs = new Map<string, ResolvedRef>();
  const stale: SecretFault[] = [];
  const unavailable: SecretFault[] = [];
  let resolved = 0;
  for (const site of wanted) {
    const { dotted, owner, alias, ref, fingerprint } = site;
    const answer = freshAnswer(site, q) ?? answers.get(alias)?.get(ref.id);
    if (!answer) continue; // its provider is not asked yet
    const kept = neverStale.has(owner) ? undefined : known.get(fingerprint);
    const value = "value" in answer ? answer.value : kept;
    refs.set(dotted, { owner, fingerprint, ...(value === undefined ? {} : { value }) });
    if ("value" in answer) resolved += 1;
    else (kept === undefined ? unavailable : stale).push({ path: dotted, owner, reason: answer.reason });
  }
  return { refs, state: { resolved, stale, unavailable, changedOwners: changedOwners(q.previous, refs) } };
}

function toWanted(site: SecretSite, { tree, secrets }: SecretsQuestion): Wanted {
  const { ref, path } = site;
  const alias = aliasOf(ref, secrets.defaults);
  const named = Object.hasOwn(secrets.providers, alias) ? secrets.providers[alias] : undefined;
  const implicit: EnvProvider | undefined = ref.source === "env" && alias === "default" ? { source: "env" } : undefined;
  const provider = named ?? implicit;
  const fingerprint = JSON.stringify([ref.source, alias, ref.id, provider]);
  return { ...site, dotted: path.join("."), owner: secretOwner(path, tree), alias: `${ref.source}:${alias}`, provider, fingerprint };
}

/** A ref without provider means the one that `secrets.defaults` names for its source. */
function aliasOf(ref: SecretRef, defaults: Readonly<Record<string, string | undefined>>): string {
  return ref.provider ?? defaults[ref.source] ?? "default";
}

function freshAnswer({ dotted, fingerprint }: Wanted, { fresh }: SecretsQuestion): { value: string } | undefined {
  const known = fresh?.get(dotted);
  return known?.fingerprint === fingerprint && known.value !== undefined ? { value: known.value } : undefined;
}

async function askAll(wanted: readonly Wanted[], q: SecretsQuestion): Promise<Map<string, Map<string, SecretAnswer>>> {
  const open = wanted.filter((site) => !freshAnswer(site, q) && (q.exec !== false || site.ref.source !== "exec"));
  const needed = open.filter(({ owner }) => !q.owners || q.owners.has(owner)).map(({ alias }) => alias);
  const asked = [...new Set(needed)].map(async (key) => {
    const own = open.filter(({ alias }) => alias === key);
    const ids = [...new Set(own.map(({ ref }) => ref.id))];
    const question: SecretQuestion = { alias: key.slice(key.indexOf(":") + 1), ids, env: q.env, configDir: q.configDir, signal: q.signal };
    return [key, await ask(own[0] as Wanted, question)] as const;
  });
  return new Map(await Promise.all(asked));
}

function ask({ provider, ref }: Wanted, question: SecretQuestion): Map<string, SecretAnswer> | Promise<Map<string, SecretAnswer>> {
  const refused = (reason: string) => new Map(question.ids.map((id): [string, SecretAnswer] => [id, { reason }]));
  if (!provider) return refused(`there is no secrets.providers.${question.alias}`);
  if (provider.source !== ref.source)
    return refused(`secrets.providers.${question.alias} has the source ${provider.source}, not ${ref.source}`);
  if (provider.source === "env") return askEnv(provider, question);
  return provider.source === "file" ? askFile(provider, question) : askExec(provider, question);
}

function changedOwners(previous: ReadonlyMap<string, ResolvedRef> | undefined, refs: ReadonlyMap<string, ResolvedRef>): string[] {
  if (!previous) return [];
  const paths = new Set([...previous.keys(), ...refs.keys()]);
  const owners = [...paths].flatMap((path) => {
    const [before, after] = [previous.get(path), refs.get(path)];
    return before?.value === after?.value ? [] : [(after ?? before)?.owner ?? path];
  });
  return [...new Set(owners)].sort();
}

/** Secrets from environment variables; a missing or empty one fails. */
function askEnv(provider: EnvProvider, { ids, env }: SecretQuestion): Map<string, SecretAnswer> {
  return new Map(
    ids.map((name): [string, SecretAnswer] => {
      if (provider.allowlist && !provider.allowlist.includes(name)) return [name, { reason: `variable ${name} is not in the allowlist` }];
      const value = env[name];
      return [name, value ? { value } : { reason: `variable ${name} is ${value === undefined ? "not set" : "empty"}` }];
    }),
  );
}
