import type { ResourceParts } from "./xdstp-name.ts";

/** Says how to find a resource. It may carry directives, and it may be a glob. All strings are decoded. */
export type Locator =
  | XdstpLocator
  | HttpLocator
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

/** `http://authority/type/id?params#directives`. Its authority is not empty (N-20). */
export interface HttpLocator extends ResourceParts {
  /** `http:`. */
  readonly scheme: "http";
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
