/**
 * A result of a method that is JSON already: it goes out as it stands. For answers that many clients ask for at once.
 * The text must be one valid JSON value; nobody looks into it.
 */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
