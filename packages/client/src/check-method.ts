import { XdsError } from "@xdstp/core";
import { collectionTypeOf, isGlob, parseLocator, typeFromTypeUrl } from "@xdstp/uri";

/** A way to watch. */
type Method = "watch" | "watchAll" | "watchList";

const what = { watch: "one name", watchAll: "a collection", watchList: "a list" } as const;

/** Throws an XdsError where a name is for another method than this, and says for which. What is not a name at all is for others to reject; an opaque name may be that of a list. */
export function checkMethod(method: Method, typeUrl: string, name: string): void {
  const right = methodOf(typeUrl, name);
  if (right === method || (right === undefined && method !== "watchAll")) return;
  const list =
    method === "watchList"
      ? ` (a list of ${typeFromTypeUrl(typeUrl) ?? typeUrl} has the type ${collectionTypeOf(typeFromTypeUrl(typeUrl) ?? typeUrl)})`
      : "";
  throw new XdsError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(name)} is ${what[right ?? "watch"]}; use ${right ?? "watch"}()${list}`,
    { typeUrl, resource: name, rule: list === "" ? undefined : "B-LIST-1" },
  );
}

/** undefined: the name does not say. */
function methodOf(typeUrl: string, name: string): Method | undefined {
  if (name === "*") return "watchAll";
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  if (parsed?.ok !== true || parsed.value.scheme !== "xdstp") return undefined;
  const { resourceType, directives } = parsed.value;
  if (isGlob(parsed.value)) return "watchAll";
  const isEntry = directives.some(({ kind }) => kind === "entry");
  return !isEntry && resourceType === collectionTypeOf(typeFromTypeUrl(typeUrl) ?? "")
    ? "watchList"
    : "watch";
}
