import { isIP } from "node:net";
import { isScalar, parseDocument, Scalar, visit, type YAMLMap } from "yaml";

/**
 * A configuration of Envoy as it can run next to others on one machine without a network: listeners take a free port of the loopback, names of hosts become its address, and there is an admin page.
 * @param dir - What relative paths of files count from
 */
export function localConfiguration(text: string, dir: string): string {
  const document = parseDocument(text);
  visit(document, {
    Map(_, map, above) {
      if (isAddress(map)) localize(map, isOfListener(above));
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
  document.setIn(["admin", "address"], document.createNode(local));
  return document.toString();
}

function isAddress(map: YAMLMap): boolean {
  return map.has("address") && map.has("port_value");
}

function localize(address: YAMLMap, isListener: boolean): void {
  const host = String(address.get("address"));
  // As new nodes, which have no text of their own.
  if (isListener) address.set("port_value", new Scalar(0));
  if (isListener || isIP(host) === 0) address.set("address", new Scalar("127.0.0.1"));
}

/** Whether an address is one that a listener binds to. */
function isOfListener(above: readonly unknown[]): boolean {
  const keys = above.flatMap((node) => {
    const { key } = node as { readonly key?: unknown };
    return isScalar(key) ? [String(key.value)] : [];
  });
  return /^static_resources,listeners,(?:additional_addresses,)?address,/.test(keys.join());
}
