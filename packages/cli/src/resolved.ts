import type { ExplainedPlace } from "@xdstp/federation";
import type { LocatorWarning } from "@xdstp/uri";

/** Who would be asked for a name. */
export interface Resolved {
  readonly name: string;
  /** The file or option that says whom to ask. */
  readonly from: string;
  readonly altOn: "unreachable" | "missing";
  readonly places: readonly ExplainedPlace[];
  readonly warnings: readonly LocatorWarning[];
}
