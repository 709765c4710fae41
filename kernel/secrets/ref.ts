import { type SecretRef, secretRefSchema } from "../../sdk/config/fields.ts";

const sources: readonly unknown[] = ["env", "file", "exec"] satisfies Array<SecretRef["source"]>;

/** A ref with the path it stands at. */
export interface SecretSite {
  path: Array<string | number>;
  ref: SecretRef;
}

/** The value as a SecretRef, when it has the shape of one. */
export function asSecretRef(value: unknown): SecretRef | undefined {
  if (typeof value !== "object" || !sources.includes((value as { source?: unknown } | null)?.source)) return undefined;
  return secretRefSchema.safeParse(value).data;
}

/** Every SecretRef of a tree, by shape; also in the bodies that belong to plugins and channels, whose schemas are not known yet. */
export function secretSites(tree: unknown): SecretSite[] {
  const sites: SecretSite[] = [];
  visit(tree, [], (value, path) => {
    const ref = asSecretRef(value);
    if (ref) sites.push({ path, ref });
  });
  return sites;
}

/** Finds values meant as a ref that are none: they have all of its keys, but texts that do not fit. The texts themselves are not echoed. */
export function malformedRefs(tree: unknown): Array<{ path: Array<string | number>; message: string }> {
  const found: Array<{ path: Array<string | number>; message: string }> = [];
  visit(tree, [], (value, path) => {
    const { source, provider, id } = value as Record<string, unknown>;
    const isMeant = Object.keys(value).length === 3 && sources.includes(source) && typeof provider === "string" && typeof id === "string";
    const parsed = isMeant ? secretRefSchema.safeParse(value) : undefined;
    const issue = parsed?.error?.issues[0];
    if (issue) found.push({ path: [...path, ...(issue.path as string[])], message: issue.message });
  });
  return found;
}

type Path = Array<string | number>;

function visit(value: unknown, path: Path, see: (object: object, path: Path) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) see(value, path);
  for (const [key, inner] of Object.entries(value)) visit(inner, [...path, Array.isArray(value) ? Number(key) : key], see);
}
