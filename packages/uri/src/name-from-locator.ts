import type { XdstpLocator } from "./locator.ts";
import type { XdstpName } from "./xdstp-name.ts";

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
