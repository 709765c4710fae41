/** The Standard Schema face (https://standardschema.dev, version 1): what the host needs of zod or of any other library. */
export interface Schema<Out = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Out> | Promise<SchemaResult<Out>>;
    readonly types?: { readonly input: unknown; readonly output: Out } | undefined;
  };
}

/** Result of validating a value with a Standard Schema. */
export type SchemaResult<Out> = { readonly value: Out; readonly issues?: undefined } | { readonly issues: ReadonlyArray<SchemaIssue> };

/** One fault of a value, and where in it. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** The parsed type of a schema. */
export type Infer<S> = S extends { readonly "~standard": { readonly types?: { readonly output: infer Out } | undefined } } ? Out : unknown;

/** A JSON Schema (2020-12) document. */
export type JsonSchema = { readonly [key: string]: unknown };
