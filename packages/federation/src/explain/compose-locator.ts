import {
  composeName,
  isGlob,
  type ContextLayers,
  type Directive,
  type ParseResult,
  type XdstpLocator,
} from "@xdstp/uri";

/** A locator with the context parameters that are not in it (C-CTX-1): those of the node for globs only (C-CTX-3), and the same for its alternatives, since they replace it. */
export function composeLocator(
  locator: XdstpLocator,
  layers: ContextLayers,
): ParseResult<XdstpLocator> {
  const composed = composeName(locator, isGlob(locator) ? layers : { ...layers, node: new Map() });
  if (!composed.ok) return composed;
  const directives: Directive[] = [];
  for (const directive of locator.directives) {
    const alt =
      directive.kind === "alt" && directive.locator.scheme === "xdstp"
        ? composeLocator(directive.locator, layers)
        : undefined;
    if (alt?.ok === false) return alt;
    directives.push(alt === undefined ? directive : { kind: "alt", locator: alt.value });
  }
  return { ok: true, value: { ...composed.value, directives } };
}
