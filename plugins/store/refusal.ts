/** What goes wrong on either side of the thread border, as plain data: the worker loads no SDK, the main thread makes an `SvcError` of it. */
export class Refusal extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;

  constructor(code: string, fields: Record<string, unknown>) {
    super(code);
    this.name = "Refusal";
    this.code = code;
    this.fields = fields;
  }
}

export interface PlainRefusal {
  code: string;
  fields: Record<string, unknown>;
}
