/** Present value of one combination of label values; plain numbers, so that an increment costs a lookup and an addition. */
export interface Cell {
  readonly labelValues: readonly string[];
  value: number;
  count: number;
  /** Values per bucket, not summed up; histograms only. */
  readonly buckets: Float64Array | undefined;
}

/** Values of one metric by their labels, bounded. */
export interface Series {
  /** The cell of these label values; beyond the bound that of `other`. Values that the metric has no label for are ignored. */
  at(a: string, b: string, c: string, d: string): Cell;
  set(value: number, labelValues: readonly string[]): void;
  all(): Cell[];
  clear(): void;
}

const DEFAULT_MAX_SERIES = 200;
const MOST_SERIES = 2_000;
/** Longest label value; the rest is cut off. */
const MAX_VALUE_CHARS = 120;
/** Stands for every combination of label values beyond the bound. */
const OTHER = "other";

type Level = Map<string, Level | Cell>;

/** @param options.buckets number of bounds of a histogram */
export function openSeries(options: { labels: number; maxSeries?: number | undefined; buckets?: number | undefined }): Series {
  return new LabelledSeries(options);
}

/** One map per label, nested: a joined key would be a new text for each increment. */
class LabelledSeries implements Series {
  readonly #depth: number;
  readonly #max: number;
  readonly #buckets: number | undefined;
  #root: Level = new Map();
  #cells: Cell[] = [];
  /** The only cell of a metric without labels; looked up in no map. */
  #single: Cell | undefined;

  constructor({
    labels,
    maxSeries = DEFAULT_MAX_SERIES,
    buckets,
  }: { labels: number; maxSeries?: number | undefined; buckets?: number | undefined }) {
    this.#depth = Math.min(4, labels);
    this.#max = Math.min(MOST_SERIES, Math.max(1, maxSeries));
    this.#buckets = buckets;
  }

  at(a: string, b: string, c: string, d: string): Cell {
    const depth = this.#depth;
    if (depth === 0) {
      this.#single ??= this.#add([]);
      return this.#single;
    }
    let found: Level | Cell | undefined = this.#root.get(a);
    if (depth > 1) found = (found as Level | undefined)?.get(b);
    if (depth > 2) found = (found as Level | undefined)?.get(c);
    if (depth > 3) found = (found as Level | undefined)?.get(d);
    return (found as Cell | undefined) ?? this.#make([a, b, c, d].slice(0, depth));
  }

  set(value: number, labelValues: readonly string[]): void {
    const [a = "", b = "", c = "", d = ""] = labelValues;
    this.at(a, b, c, d).value = value;
  }

  all(): Cell[] {
    return this.#cells;
  }

  clear(): void {
    this.#root = new Map();
    this.#cells = [];
    this.#single = undefined;
  }

  #make(given: readonly string[]): Cell {
    const clean = given.map((value) => String(value).slice(0, MAX_VALUE_CHARS));
    const isFull = this.#cells.length >= this.#max;
    const values = isFull ? clean.map(() => OTHER) : clean;
    let level = this.#root;
    for (const value of values.slice(0, -1)) {
      const next = (level.get(value) as Level | undefined) ?? new Map();
      level.set(value, next);
      level = next;
    }
    const last = values[values.length - 1] as string;
    const known = level.get(last) as Cell | undefined;
    if (known) return known;
    const cell = this.#add(values);
    level.set(last, cell);
    return cell;
  }

  #add(labelValues: readonly string[]): Cell {
    const buckets = this.#buckets === undefined ? undefined : new Float64Array(this.#buckets);
    const cell: Cell = { labelValues, value: 0, count: 0, buckets };
    this.#cells.push(cell);
    return cell;
  }
}
