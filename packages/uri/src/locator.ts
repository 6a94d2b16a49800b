/** Says how to find a resource. It may carry directives, and it may be a glob. All strings are decoded. */
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

/** `xdstp://authority/type/id?params#directives`. It is also an {@link XdstpName}; {@link nameFromLocator} drops the directives. */
export interface XdstpLocator extends ResourceParts {
  /** `xdstp:`. */
  readonly scheme: "xdstp";
  /** The directives after `#`. Empty: there are none. */
  readonly directives: readonly Directive[];
}

/** What a client is to do with a locator; each kind occurs at most once in one URI (N-15). */
export type Directive =
  /** Where to look when the resource cannot be had (N-17). */
  | {
      /** Another place for the resource. */
      readonly kind: "alt";
      /** The other place. */
      readonly locator: Locator;
    }
  /** The inline entry of a list collection that is meant (N-71). */
  | {
      /** An entry of a list collection. */
      readonly kind: "entry";
      /** The name of the entry. */
      readonly entry: string;
    };

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

/** The name that is requested on the wire: the locator without its directives (N-18, N-71). */
export function nameFromLocator({
  scheme,
  authority,
  resourceType,
  id,
  contextParams,
}: XdstpLocator): XdstpName {
  return { scheme, authority, resourceType, id, contextParams };
}
