/** File in which a value of the source tree was written. */
export interface ConfigOrigin {
  /** Absolute path of the file. */
  file: string;
  /** Path of the value inside that file. */
  path: Array<string | number>;
  /**
   * `file`: it is all of it there, and a writer may change it there, in the main file or in one that is included alone;
   * `array`: it was merged from a list of includes; `override`: it stands beside an `$include`, over an included value.
   */
  via: "file" | "array" | "override";
  /** Something below comes from elsewhere: from another file, or from beside an `$include`. */
  mixed: boolean;
}

/** Origin of one value; only what lies elsewhere than its parent says has a child. */
export interface OriginNode extends Omit<ConfigOrigin, "mixed"> {
  children?: Map<string, OriginNode>;
}

/** The origin of a path; a path without a value continues its nearest present parent. */
export function originAt(root: OriginNode, path: ReadonlyArray<PropertyKey>): ConfigOrigin {
  let node: OriginNode = root;
  let rest: Array<string | number> = [];
  for (const part of path) {
    const child: OriginNode | undefined = rest.length === 0 ? node.children?.get(String(part)) : undefined;
    if (child) node = child;
    else rest = [...rest, typeof part === "number" ? part : String(part)];
  }
  const { file, via, children } = node;
  return { file, path: [...node.path, ...rest], via, mixed: rest.length === 0 && children !== undefined };
}

/** The same origin for everything below, marked as come by a list or as standing over something included. */
export function marked(node: OriginNode, via: "array" | "override"): OriginNode {
  const children = node.children && new Map([...node.children].map(([key, child]) => [key, marked(child, via)]));
  return { file: node.file, path: node.path, via, ...(children ? { children } : {}) };
}
