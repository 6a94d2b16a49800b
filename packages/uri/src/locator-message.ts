/** `xds.core.v3.ContextParams` as protobuf JSON. */
export interface ContextParamsMessage {
  /** The parameters by key. Absent: none. */
  readonly params?: Readonly<Record<string, string>>;
}

/** `xds.core.v3.ResourceName` as protobuf JSON; its strings are decoded (N-80). */
export interface ResourceNameMessage {
  /** `id`. Absent: empty. */
  readonly id?: string;
  /** `authority`. Absent: empty. */
  readonly authority?: string;
  /** `resource_type`: the full name of the message. Absent: empty. */
  readonly resourceType?: string;
  /** `context`: the context parameters. Absent: none. */
  readonly context?: ContextParamsMessage;
}

/** `xds.core.v3.ResourceLocator` as protobuf JSON; its strings are decoded (N-80). */
export interface ResourceLocatorMessage {
  /** Absent: `XDSTP`. The number of the enum value is read too. */
  readonly scheme?: "XDSTP" | "HTTP" | "FILE" | 0 | 1 | 2;
  /** `id`. Absent: empty. */
  readonly id?: string;
  /** `authority`. Absent: empty. */
  readonly authority?: string;
  /** `resource_type`: the full name of the message. Absent: empty. */
  readonly resourceType?: string;
  /** `exact_context`: the context parameters. Absent: none. */
  readonly exactContext?: ContextParamsMessage;
  /** `directives`. Absent: none. */
  readonly directives?: readonly DirectiveMessage[];
}

/** `xds.core.v3.ResourceLocator.Directive` as protobuf JSON; exactly one field is set. */
export interface DirectiveMessage {
  /** Another place for the resource. Absent: it is an entry. */
  readonly alt?: ResourceLocatorMessage;
  /** An entry of a list collection. Absent: it is an alternative. */
  readonly entry?: string;
}
