import JSON5 from "json5";

/** Parses JSON5. Most files are plain JSON, which the native reader takes in a tenth of the time. @throws an error with `lineNumber` and `columnNumber` */
export function parseJson5(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON5.parse(text);
  }
}
