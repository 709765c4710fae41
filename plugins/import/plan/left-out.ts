/** Something in the folder that does not come over: where it stands there, and why. */
export interface LeftOut {
  /** A path in the folder, or `config:` and a path in the config. */
  path: string;
  reason: string;
}
