/** The decoded parts that `xdstp:` and `http:` URIs share. */
export interface ResourceParts {
  /** Compared exactly; may be empty for `xdstp` (N-07). */
  readonly authority: string;
  /** The type URL without `type.googleapis.com/` (B-TYPE-1). */
  readonly resourceType: string;
  /** Without the slash that ends the type; may be empty and may hold slashes (N-09). */
  readonly id: string;
  /** In the order received, which means nothing (N-40). */
  readonly contextParams: ReadonlyMap<string, string>;
}

/** A name: identifies one resource, or a glob of them. All strings are decoded. It has no directives (N-18). */
export interface XdstpName extends ResourceParts {
  /** `xdstp:`. */
  readonly scheme: "xdstp";
}
