import type { Disposable } from "../../../sdk/types/common.ts";
import type { Counter, Histogram, MetricFamily, MetricSeries, MetricSpec, SetGauge } from "../../../sdk/types/metrics.ts";
import { kernelErrors } from "../../errors.ts";
import { openSeries, type Series } from "./series.ts";
import { checkSpec, DEFAULT_BUCKETS_MS, type HistogramSpec } from "./spec.ts";

/** A metric that was declared: its handle works at once, and it is listed from `attach` on. */
export interface Declared<Handle> {
  readonly handle: Handle;
  /** Lists it until the result is disposed. @throws {SvcError} `invalid-registration`, `reserved-name`, `contribution-conflict` */
  attach(): Disposable;
}

/** All metrics of one gateway. */
export interface MetricRegistry {
  /** False: nothing is counted, and nothing listed. */
  enable(isOn: boolean): void;
  counter(spec: MetricSpec, owner: MetricOwner): Declared<Counter>;
  histogram(spec: HistogramSpec, owner: MetricOwner): Declared<Histogram>;
  /** Several owners may set values of one gauge. */
  gauge(spec: MetricSpec, owner: MetricOwner, read: (set: SetGauge) => void): Declared<undefined>;
  /** Every listed metric with its present values, by name. */
  read(): MetricFamily[];
}

/** Plugin that declares a metric, or `kernel`. */
export interface MetricOwner {
  id: string;
  /** It does not come with svc: names of its metrics begin with its id. */
  isOutside?: boolean;
}

interface Family {
  readonly spec: MetricSpec;
  readonly kind: MetricFamily["kind"];
  readonly owner: string;
  readonly buckets?: readonly number[];
  readonly series: Series;
  readonly readers: Set<() => void>;
  /** Instances that hold it: two of one plugin during a reload. */
  holders: number;
}

/** Counting switch that every handle reads. */
interface Switch {
  isOn: boolean;
}

/** @param onFault called with the owner of a gauge whose reader threw */
export function createMetricRegistry(onFault: (owner: string, error: unknown) => void): MetricRegistry {
  const families = new Map<string, Family>();
  const counting: Switch = { isOn: true };

  /** The listed family of this owner, so that a successor goes on counting, or a new one. */
  const open = (kind: Family["kind"], spec: MetricSpec, owner: MetricOwner, buckets?: readonly number[]): Family => {
    const known = families.get(spec.name);
    if (known && known.owner === owner.id && isSame(known, { kind, spec, buckets })) return known;
    const series = openSeries({ labels: spec.labels?.length ?? 0, maxSeries: spec.maxSeries, buckets: buckets?.length });
    return { spec, kind, owner: owner.id, ...(buckets ? { buckets } : {}), series, readers: new Set(), holders: 0 };
  };
  const list = (family: Family, owner: MetricOwner): { family: Family; undo: () => void } => {
    checkSpec(family.spec, { ...owner, buckets: family.buckets });
    const { name } = family.spec;
    const known = families.get(name) ?? family;
    const mayShare = known === family || (family.kind === "gauge" && isSame(known, family));
    if (!mayShare) throw kernelErrors.contributionConflict({ point: "metric", id: name, plugin: owner.id, owner: known.owner });
    families.set(name, known);
    known.holders += 1;
    const undo = () => {
      known.holders -= 1;
      if (known.holders === 0) families.delete(name);
    };
    return { family: known, undo };
  };
  return {
    enable(isOn) {
      counting.isOn = isOn;
    },
    counter(spec, owner) {
      const family = open("counter", spec, owner);
      return { handle: counterOf(family.series, counting), attach: () => once(list(family, owner).undo) };
    },
    histogram(spec, owner) {
      const buckets = spec.buckets ?? DEFAULT_BUCKETS_MS;
      const family = open("histogram", spec, owner, buckets);
      return { handle: histogramOf(family.series, buckets, counting), attach: () => once(list(family, owner).undo) };
    },
    gauge(spec, owner, read) {
      const declared = open("gauge", spec, owner);
      return {
        handle: undefined,
        attach() {
          const { family, undo } = list(declared, owner);
          const reader = () => {
            try {
              read((value, ...labelValues) => family.series.set(value, labelValues));
            } catch (error) {
              onFault(owner.id, error);
            }
          };
          family.readers.add(reader);
          return once(() => {
            family.readers.delete(reader);
            undo();
          });
        },
      };
    },
    read() {
      if (!counting.isOn) return [];
      return [...families.values()].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1)).map(toFamily);
    },
  };
}

function isSame(a: Pick<Family, "kind" | "spec">, b: { kind: Family["kind"]; spec: MetricSpec; buckets?: readonly number[] | undefined }) {
  const shape = ({ kind, spec, buckets }: typeof b) => JSON.stringify([kind, spec.labels ?? [], buckets ?? []]);
  return shape(a) === shape(b);
}

/** Label values are parameters, so that no list is made for a call. */
function counterOf(series: Series, counting: Switch): Counter {
  return {
    add(by: number, a = "", b = "", c = "", d = "") {
      if (counting.isOn && by > 0 && by < Number.POSITIVE_INFINITY) series.at(a, b, c, d).value += by;
    },
  };
}

function histogramOf(series: Series, bounds: readonly number[], counting: Switch): Histogram {
  return {
    observe(value: number, a = "", b = "", c = "", d = "") {
      if (!counting.isOn || !Number.isFinite(value)) return;
      const cell = series.at(a, b, c, d);
      cell.value += value;
      cell.count += 1;
      let at = 0;
      while (at < bounds.length && value > (bounds[at] as number)) at += 1;
      if (at < bounds.length) (cell.buckets as Float64Array)[at] = ((cell.buckets as Float64Array)[at] as number) + 1;
    },
  };
}

function toFamily(family: Family): MetricFamily {
  const { spec, kind, buckets, series, readers } = family;
  if (kind === "gauge") {
    series.clear();
    for (const read of readers) read();
  }
  const found: MetricSeries[] = series.all().map(({ labelValues, value, count, buckets: counts }) => {
    if (!counts) return { labelValues, value };
    let sum = 0;
    return { labelValues, value, count, cumulative: [...counts].map((n) => (sum += n)) };
  });
  return { name: spec.name, help: spec.help, kind, labels: spec.labels ?? [], ...(buckets ? { buckets } : {}), series: found };
}

function once(undo: () => void): Disposable {
  let isDone = false;
  return {
    dispose() {
      if (!isDone) undo();
      isDone = true;
    },
  };
}
