import type { Fault } from "@xdstp/core";
import type { Located, ResourceLocator } from "@xdstp/protos/xds";
import {
  collectionTypeOf,
  type DirectiveMessage,
  isGlob,
  type Locator,
  locatorFromMessage,
  printLocator,
  type ResourceLocatorMessage,
  typeFromTypeUrl,
} from "@xdstp/uri";

/** The locator in a redirect or in an entry of a list, in either of its forms (N-82); or what is wrong with it. */
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
 * Why a locator cannot be used for resources of a type: where something of this type is requested, it and its alternatives have to have it (C-REDIR-5, C-ALT-7), or be an entry of a list of it (C-LIST-7);
 * and an alternative of a collection is a collection. undefined: nothing.
 */
export function locatorFault(typeUrl: string, locator: Locator): Fault | undefined {
  if (locator.scheme !== "xdstp")
    return {
      text: `${printLocator(locator)} has the scheme ${locator.scheme}, which no feed supports yet; use xdstp`,
      rule: "C-REDIR-8",
    };
  const { resourceType, directives } = locator;
  const isEntry = directives.some(({ kind }) => kind === "entry");
  const own = typeFromTypeUrl(typeUrl) ?? "";
  const wanted = isEntry ? collectionTypeOf(own) : own;
  if (resourceType !== wanted)
    return {
      text: `${printLocator(locator)} has the type ${resourceType}; it has to be ${wanted}`,
    };
  if (isEntry && isGlob(locator))
    return { text: `${printLocator(locator)} is a glob, which has no entries` };
  for (const directive of directives) {
    const fault =
      directive.kind === "alt" ? altFault(typeUrl, isGlob(locator), directive.locator) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function altFault(typeUrl: string, ofGlob: boolean, alt: Locator): Fault | undefined {
  const fault = locatorFault(typeUrl, alt);
  if (fault !== undefined) return { ...fault, text: `its alternative ${fault.text}` };
  return isGlob(alt) === ofGlob
    ? undefined
    : {
        text: `its alternative ${printLocator(alt)} is ${ofGlob ? "not a glob" : "a glob"}`,
        rule: "C-ALT-7",
      };
}
