import type { ResourceLocator } from "../gen/xds/core/v3/resource_locator_pb.ts";

/** A locator in one of its two wire forms (N-82): as text to parse, or by its decoded parts. */
export type Located =
  | { readonly form: "text"; readonly text: string }
  | { readonly form: "message"; readonly message: ResourceLocator };
