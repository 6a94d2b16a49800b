import type { JsonValue } from "@xdstp/bootstrap";
import type { Cache } from "@xdstp/cache";
import type { Federation } from "@xdstp/federation";

/** Clients with one key, and what is kept for them alone. */
export interface TenantStatus {
  /** What the fields of `opaqueKey` say of them; null: nothing. */
  readonly values: Readonly<Record<string, JsonValue>>;
  /** Opaque names that are cached for them. */
  readonly cache: Cache;
  /** What the servers upstream say to them: status and traces. */
  readonly federation: Pick<Federation, "status" | "traces">;
  /** There are more than `maxTenants`: upstream is not asked for it before another one has ended. */
  readonly waiting: boolean;
}
