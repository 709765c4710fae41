/** Where a value of the source tree was written. */
export interface ConfigOrigin {
  /** Absolute path of the file. */
  file: string;
  /** Path of the value inside that file. */
  path: Array<string | number>;
  /**
   * `file`: it is all of it there, and a writer may change it there, in the main file or in one that is included alone;
   * `array`: it was merged from a list of includes; `override`: it stands beside an `$include`, over the included value.
   */
  via: "file" | "array" | "override";
}
