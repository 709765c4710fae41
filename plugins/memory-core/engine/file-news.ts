/** Files that are known to have changed since somebody took note of it. */
export interface FileNews {
  add(path: string): void;
  /** Anything may have changed. */
  unclear(): void;
  /** The changed files, and begins anew; undefined: anything may have changed. */
  take(): readonly string[] | undefined;
}

/** @param most with more files than this it is not worth telling one from the other */
export function createFileNews(most: number): FileNews {
  let paths: Set<string> | undefined = new Set();
  return {
    add(path) {
      paths?.add(path);
      if (paths && paths.size > most) paths = undefined;
    },
    unclear() {
      paths = undefined;
    },
    take() {
      const taken = paths && [...paths];
      paths = new Set();
      return taken;
    },
  };
}

/** Files that a sync of changed files has to check. */
export interface ChangedFiles {
  /** @param changed undefined: anything may have changed */
  add(changed: readonly string[] | undefined): void;
  /**
   * The files that an index does not have as they are now; undefined: all of them have to be looked at. They count as taken in.
   * @param index undefined for one that is only being made
   */
  take(index: object | undefined): readonly string[] | undefined;
  /** A sync has succeeded: the index has everything that was taken. */
  settled(index: object | undefined): void;
  /** A sync has failed: nobody knows what the index has. */
  failed(): void;
}

/** More of them are looked at all together. */
export const MAX_CHANGED_FILES = 256;

export function createChangedFiles(): ChangedFiles {
  const news = createFileNews(MAX_CHANGED_FILES);
  let complete: object | undefined;
  return {
    add(changed) {
      if (changed) for (const path of changed) news.add(path);
      else news.unclear();
    },
    take(index) {
      const taken = news.take();
      if (index !== undefined && index === complete) return taken;
      complete = undefined;
      return undefined;
    },
    settled(index) {
      complete = index;
    },
    failed() {
      complete = undefined;
    },
  };
}
