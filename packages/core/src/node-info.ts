/** What is kept of a `Node`. All of it is a claim of the peer. Extensions are never decoded (S-NODE-6). */
export interface NodeInfo {
  /** `node.id`. */
  readonly id: string;
  /** `node.cluster`. */
  readonly cluster: string;
  /** `node.user_agent_name`. */
  readonly userAgentName: string;
  /** `node.user_agent_version`, or the build version as text. Empty: none. */
  readonly userAgentVersion: string;
  /** Region, zone, sub-zone, joined by `/`; empty if none was given. */
  readonly locality: string;
  /** `node.client_features`. */
  readonly clientFeatures: readonly string[];
  /** Context parameters that change while the client runs, by type URL; the newest that it sent (S-NODE-3). Absent: none. */
  readonly dynamicParameters?: DynamicParameters;
}

/** By type URL, parameters by key. */
export type DynamicParameters = Readonly<Record<string, Readonly<Record<string, string>>>>;
