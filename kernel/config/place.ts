/** 1-based place in a file. */
export interface Place {
  line: number;
  column: number;
  /** Name of the file, where it is not the main one. */
  file?: string;
}

/** Finds a path in a file: its value, or its key. A missing path gives its nearest present parent. */
export type Locate = (path: ReadonlyArray<PropertyKey>, at?: "key" | "value") => Place;
