import type { Fault } from "@xdstp/core";
import type { Located, ResourceLocator } from "@xdstp/protos/xds";
import {
  locatorFromMessage,
  type DirectiveMessage,
  type Locator,
  type ResourceLocatorMessage,
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
