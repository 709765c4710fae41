import type { MetricSpec } from "../../../sdk/types/metrics.ts";
import { kernelErrors } from "../../errors.ts";

/** Declaration of a histogram. */
export type HistogramSpec = MetricSpec & { buckets?: readonly number[] };

/** Bounds for times in milliseconds: from a lookup in memory to a slow model. */
export const DEFAULT_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

const MAX_BUCKETS = 20;
const MAX_LABELS = 4;
const nameGrammar = /^[a-z][a-z0-9_]{2,79}$/;
const labelGrammar = /^[a-z][a-z0-9_]{0,39}$/;

/** @throws {SvcError} `invalid-registration`, `reserved-name` */
export function checkSpec(spec: MetricSpec, by: { id: string; isOutside?: boolean; buckets?: readonly number[] | undefined }): void {
  const issues = issuesOf(spec, by.buckets);
  if (issues) throw kernelErrors.invalidRegistration({ plugin: by.id, kind: `metric "${String(spec.name).slice(0, 80)}"`, issues });
  const prefix = `${by.id.replaceAll("-", "_")}_`;
  if (by.isOutside && !spec.name.startsWith(prefix))
    throw kernelErrors.reservedName({ plugin: by.id, name: spec.name, owner: `svc; begin it with ${prefix}` });
}

function issuesOf({ name, help, labels = [] }: MetricSpec, buckets: readonly number[] | undefined): string | undefined {
  if (typeof name !== "string" || !nameGrammar.test(name)) return `expected a name such as requests_total, got ${JSON.stringify(name)}`;
  if (typeof help !== "string" || help.trim() === "") return "expected a help text";
  if (!Array.isArray(labels) || labels.length > MAX_LABELS) return `expected at most ${MAX_LABELS} labels, got ${String(labels.length)}`;
  const odd = labels.find((label) => !labelGrammar.test(label) || label === "le");
  if (odd !== undefined) return `expected a label such as channel, got ${JSON.stringify(odd)}`;
  if (new Set(labels).size < labels.length) return "expected each label once";
  if (!buckets) return undefined;
  const isSound =
    buckets.length > 0 &&
    buckets.length <= MAX_BUCKETS &&
    buckets.every((bound, i) => Number.isFinite(bound) && bound > (buckets[i - 1] ?? Number.NEGATIVE_INFINITY));
  return isSound ? undefined : `expected 1 to ${MAX_BUCKETS} ascending bounds`;
}
