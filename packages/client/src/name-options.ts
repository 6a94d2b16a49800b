/** How the name that is asked for is made of the one that a program gives (C-CTX-1). */
export interface NameOptions {
  /** Attributes of this one look-up, such as `xds.resource.host` (C-CTX-5): context parameters that override those of the name and of the client. */
  readonly attributes?: Readonly<Record<string, string>>;
}
