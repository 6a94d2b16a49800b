/**
 * Parse, print, compare and match xdstp:// names and locators.
 *
 * ```ts
 * nameKey("xdstp://foo/t/x?b=2&a=1"); // "xdstp://foo/t/x?a=1&b=2"
 * globMatches("xdstp://foo/t/ns/*", "xdstp://foo/t/ns/a"); // true
 * ```
 *
 * @packageDocumentation
 */
export { parseName } from "./parse-name.ts";
export { parseLocator } from "./parse-locator.ts";
export { printName, printLocator } from "./print-name.ts";
export type { ResourceParts, XdstpName, Directive, Locator, XdstpLocator } from "./locator.ts";
export type { ParseResult, UriError } from "./uri-error.ts";

// Names as received.
export { nameKey, sameName } from "./name-key.ts";
export { isGlob, globMatches, globOf } from "./glob-of.ts";
export { typeOf, authorityOf } from "./name-key.ts";

// Types.
export { typeFromTypeUrl, typeUrlFromType, collectionTypeOf, memberTypeOf } from "./type-url.ts";

// From a literal locator to the name to subscribe to.
export { nameFromLocator } from "./locator.ts";
export { composeName, type ContextLayers, nodeContextParams } from "./compose-name.ts";
export { locatorFault, type LocatorFault } from "./locator-fault.ts";
export { isPortableEntryName, lintLocator } from "./lint-locator.ts";

// Messages and templates.
export {
  locatorFromMessage,
  nameFromMessage,
  messageFromLocator,
  messageFromName,
  type ContextParamsMessage,
  type DirectiveMessage,
  type ResourceLocatorMessage,
  type ResourceNameMessage,
} from "./locator-message.ts";
export { defaultListenerTemplate, expandTemplate, isTemplateOf } from "./bootstrap-template.ts";
