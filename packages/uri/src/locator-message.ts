/** `xds.core.v3.ContextParams` as protobuf JSON. */
export interface ContextParamsMessage {
  readonly params?: Readonly<Record<string, string>>;
}

/** `xds.core.v3.ResourceName` as protobuf JSON; its strings are decoded (N-80). */
export interface ResourceNameMessage {
  readonly id?: string;
  readonly authority?: string;
  readonly resourceType?: string;
  readonly context?: ContextParamsMessage;
}

/** `xds.core.v3.ResourceLocator` as protobuf JSON; its strings are decoded (N-80). */
export interface ResourceLocatorMessage {
  /** Absent: `XDSTP`. The number of the enum value is read too. */
  readonly scheme?: "XDSTP" | "HTTP" | "FILE" | 0 | 1 | 2;
  readonly id?: string;
  readonly authority?: string;
  readonly resourceType?: string;
  readonly exactContext?: ContextParamsMessage;
  readonly directives?: readonly DirectiveMessage[];
}

/** `xds.core.v3.ResourceLocator.Directive` as protobuf JSON; exactly one field is set. */
export interface DirectiveMessage {
  readonly alt?: ResourceLocatorMessage;
  readonly entry?: string;
}
