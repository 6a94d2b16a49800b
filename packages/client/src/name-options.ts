import type { SourceConfig } from "@xdstp/bootstrap";

/** Where a name is requested: the servers of a ConfigSource (what `readConfigSource` of `@xdstp/bootstrap/envoy` gives for `servers`), the ADS source of the bootstrap, or the source that has delivered the reference. */
export type NameSource = SourceConfig | "ads" | "self";

/** How the requested name is made of the one that a program gives (C-CTX-1), and where it is requested. */
export interface NameOptions {
  /** Attributes of this one look-up, such as `xds.resource.host` (C-CTX-5): context parameters that override those of the name and of the client. */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * The ConfigSource next to the name. An opaque name is requested there; an xdstp name, if its authority is one of `authorities`, else as the bootstrap says (C-AUTH-1, C-AUTH-6). What several sources have under one name is kept apart.
   * `ads`: as without it where the bootstrap has no ADS source. `self`: in a payload; for a name of the program as without it. Default: as the bootstrap says.
   */
  readonly source?: NameSource;
}
