import type { Directive, Locator } from "./locator.ts";
import type {
  ContextParamsMessage,
  DirectiveMessage,
  ResourceLocatorMessage,
  ResourceNameMessage,
} from "./locator-message.ts";
import type { XdstpName } from "./xdstp-name.ts";

const schemes = { xdstp: "XDSTP", http: "HTTP", file: "FILE" } as const;

/** The `xds.core.v3.ResourceName` of a name (N-80). An empty context is left out. */
export function messageFromName({
  id,
  authority,
  resourceType,
  contextParams,
}: XdstpName): ResourceNameMessage {
  const context = contextMessage(contextParams);
  return { id, authority, resourceType, ...(context && { context }) };
}

/** The `xds.core.v3.ResourceLocator` of a locator, the form to emit (N-80, N-82). An empty context is left out. */
export function messageFromLocator(locator: Locator): ResourceLocatorMessage {
  const { id } = locator;
  const scheme = schemes[locator.scheme];
  const directives = locator.directives.map(directiveMessage);
  if (locator.scheme === "file") return { scheme, id, directives };
  const { authority, resourceType } = locator;
  const exactContext = contextMessage(locator.contextParams);
  return { scheme, id, authority, resourceType, ...(exactContext && { exactContext }), directives };
}

/** `Object.fromEntries` makes an own property of any key, `__proto__` too. */
function contextMessage(params: ReadonlyMap<string, string>): ContextParamsMessage | undefined {
  return params.size === 0 ? undefined : { params: Object.fromEntries(params) };
}

function directiveMessage(directive: Directive): DirectiveMessage {
  return directive.kind === "alt"
    ? { alt: messageFromLocator(directive.locator) }
    : { entry: directive.entry };
}
