import type { Fault } from "@xdstp/core";
import type { Located, ResourceLocator } from "@xdstp/protos/xds";
import {
  type DirectiveMessage,
  type Locator,
  locatorFault as typeFault,
  locatorFromMessage,
  printLocator,
  type ResourceLocatorMessage,
  typeFromTypeUrl,
} from "@xdstp/uri";

/**
 * Returns the locator in a redirect or in an entry of a list, from either of its wire forms (N-82),
 * or the reason why it is invalid.
 */
export function locatorOf(located: Located): Locator | Fault {
  const read = locatorFromMessage(located.form === "text" ? located.text : asJson(located.message));
  return read.ok ? read.value : { text: read.error.message, rule: read.error.rule };
}

function asJson({
  scheme,
  id,
  authority,
  resourceType,
  contextParamSpecifier,
  directives,
}: ResourceLocator): ResourceLocatorMessage {
  const params =
    contextParamSpecifier.case === "exactContext" ? contextParamSpecifier.value.params : {};
  return {
    scheme: scheme as 0 | 1 | 2,
    id,
    authority,
    resourceType,
    exactContext: { params },
    directives: directives.map(directiveOf),
  };
}

function directiveOf({ directive }: ResourceLocator["directives"][number]): DirectiveMessage {
  if (directive.case === "alt") return { alt: asJson(directive.value) };
  return directive.case === "entry" ? { entry: directive.value } : {};
}

/**
 * Returns the reason why a locator cannot be used for resources of a type: a scheme that no feed
 * supports yet (C-REDIR-8), a file (C-NFILE-7), or a type that does not match. `undefined`: it can be used.
 */
export function locatorFault(typeUrl: string, locator: Locator): Fault | undefined {
  return schemeFault(locator) ?? typeFault(typeFromTypeUrl(typeUrl) ?? "", locator);
}

function schemeFault(locator: Locator): Fault | undefined {
  if (locator.scheme !== "xdstp")
    return {
      text:
        locator.scheme === "file"
          ? `${printLocator(locator)} is a file, which only an entry of a list may lead to; use xdstp`
          : `${printLocator(locator)} has the scheme http, which no feed supports yet; use xdstp`,
      rule: locator.scheme === "file" ? "C-NFILE-7" : "C-REDIR-8",
    };
  for (const directive of locator.directives) {
    const fault = directive.kind === "alt" ? schemeFault(directive.locator) : undefined;
    if (fault !== undefined) return { ...fault, text: `its alternative ${fault.text}` };
  }
  return undefined;
}
