/**
 * Tells how to find a resource. It may have directives, and may be a glob. All strings are decoded.
 */
export type Locator =
  | XdstpLocator
  /** `http://authority/type/id?params#directives`. Its authority is not empty (N-20). */
  | (ResourceParts & {
      /** `http:`. */
      readonly scheme: "http";
      /** The directives after `#`. Empty: there are none. */
      readonly directives: readonly Directive[];
    })
  /** `file:///id#directives`. The id is the path without its leading slash (N-19). */
  | {
      /** `file:`. */
      readonly scheme: "file";
      /** The path of the file. */
      readonly id: string;
      /** The directives after `#`. Empty: there are none. */
      readonly directives: readonly Directive[];
    };

/**
 * `xdstp://authority/type/id?params#directives`. It is also an {@link XdstpName};
 * {@link nameFromLocator} drops the directives.
 */
export interface XdstpLocator extends ResourceParts {
  /** `xdstp:`. */
  readonly scheme: "xdstp";
  /** The directives after `#`. Empty: there are none. */
  readonly directives: readonly Directive[];
}

/** An instruction to the client of a locator. Each kind occurs at most once in a URI (N-15). */
export type Directive =
  /** An alternative: used if the resource is not available (N-17). */
  | {
      /** The kind of the directive. */
      readonly kind: "alt";
      /** The alternative locator. */
      readonly locator: Locator;
    }
  /** An entry: the resource is the inline entry of a list collection (N-71). */
  | {
      /** The kind of the directive. */
      readonly kind: "entry";
      /** The name of the entry. */
      readonly entry: string;
    };

/** The decoded parts that `xdstp:` and `http:` URIs share. */
export interface ResourceParts {
  /** The authority. It is compared exactly, and may be empty for `xdstp` (N-07). */
  readonly authority: string;
  /** The type URL without `type.googleapis.com/` (B-TYPE-1). */
  readonly resourceType: string;
  /**
   * The id without the slash that ends the type. It may be empty, and may contain slashes (N-09).
   */
  readonly id: string;
  /** The context parameters in the order received, which has no meaning (N-40). */
  readonly contextParams: ReadonlyMap<string, string>;
}

/**
 * A name, which identifies one resource or a glob of them. All strings are decoded. It has no
 * directives (N-18).
 */
export interface XdstpName extends ResourceParts {
  /** `xdstp:`. */
  readonly scheme: "xdstp";
}

/**
 * Returns the name that is requested on the wire: the locator without its directives (N-18, N-71).
 */
export function nameFromLocator({
  scheme,
  authority,
  resourceType,
  id,
  contextParams,
}: XdstpLocator): XdstpName {
  return { scheme, authority, resourceType, id, contextParams };
}
