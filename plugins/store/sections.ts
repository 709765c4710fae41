import { secret, z } from "svc/sdk";
import { defaulted, duration } from "svc/sdk/internal";

const postgres = z
  .strictObject({
    url: secret()
      .optional()
      .describe("Address of the database: `postgres://user:password@host:5432/name`; unset: the environment variable `SVC_POSTGRES_URL`"),
    schema: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,39}$/, "expected a small letter, then up to 39 of a-z, 0-9 and _")
      .default("svc")
      .describe("Schema in the database; all gateways that share their state name the same one"),
    pool: z.number().int().min(1).max(32).default(4).describe("Connections for reads; the gateway holds four more"),
    tls: z
      .enum(["verify-full", "off"])
      .default("verify-full")
      .describe(
        "`verify-full`: the link is encrypted and the certificate of the server checked; `off`: for a database on this machine or in a private network",
      ),
  })
  .prefault({});

const storeSchema = z
  .strictObject({
    backend: z
      .enum(["sqlite", "postgres"])
      .default("sqlite")
      .describe("`sqlite`: a file in the state directory, for one gateway; `postgres`: a database that `store.postgres` names"),
    postgres,
    lease: z
      .strictObject({
        ttlMs: defaulted(duration("ms", 2_000, 120_000), 10_000).describe(
          "`postgres`: a gateway that could not renew its lease for so long has lost it; it is renewed every third of that",
        ),
      })
      .prefault({}),
  })
  .meta({ reload: "restart" });

/** Section of the config that this plugin owns, the settings of all backends included. The manifest names this module; `svc.sections.json` is written from it. */
export default { store: storeSchema.prefault({}) };
