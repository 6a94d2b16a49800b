import { isIP } from "node:net";
import { type Document, isAlias, isScalar, parseDocument, Scalar, visit, type YAMLMap } from "yaml";

/**
 * A configuration of Envoy as it can run next to others on one machine without a network: listeners take a free port of the loopback, names of hosts become its address, and there is an admin page.
 * @param dir - What relative paths of files count from
 */
export function localConfiguration(text: string, dir: string): string {
  const document = parseDocument(text);
  visit(document, {
    Map(_, map, above) {
      if (isAddress(map)) localize(map, isOfListener(above), document);
    },
    Scalar(_, scalar) {
      const { value, source } = scalar;
      // Digits of a text may look like a large number.
      if (typeof value === "number" && source !== undefined && String(value) !== source)
        scalar.value = source;
      // Envoy cannot open a pipe of this process by this name.
      if (value === "/dev/stdout" || value === "/dev/stderr") scalar.value = "/dev/null";
      if (typeof value === "string" && /^(?:certs|files)(?:\/|$)/.test(value))
        scalar.value = `${dir}/${value}`;
    },
  });
  const local = { socket_address: { address: "127.0.0.1", port_value: 0 } };
  if (!document.hasIn(["admin", "address"]))
    document.setIn(["admin", "address"], document.createNode(local));
  return document.toString();
}

function isAddress(map: YAMLMap): boolean {
  return map.has("address") && map.has("port_value");
}

function localize(address: YAMLMap, isListener: boolean, document: Document): void {
  const host = resolvedIn(address, "address", document);
  if (isListener) put(address, "port_value", 0);
  if (isListener || isIP(String(host)) === 0) put(address, "address", "127.0.0.1");
}

function resolvedIn(map: YAMLMap, key: string, document: Document): unknown {
  const node = map.get(key, true);
  const meant = isAlias(node) ? node.resolve(document) : node;
  return isScalar(meant) ? meant.value : meant;
}

/** An anchor stays, since an alias may follow. */
function put(map: YAMLMap, key: string, value: string | number): void {
  const before = map.get(key, true);
  const scalar = new Scalar(value);
  if (isScalar(before) && before.anchor !== undefined) scalar.anchor = before.anchor;
  map.set(key, scalar);
}

/** Returns true for an address that a listener or the admin page binds to. */
function isOfListener(above: readonly unknown[]): boolean {
  const keys = above.flatMap((node) => {
    const { key } = node as { readonly key?: unknown };
    return isScalar(key) ? [String(key.value)] : [];
  });
  return /^(?:admin|static_resources,listeners(?:,additional_addresses)?),address,/.test(
    keys.join(),
  );
}
