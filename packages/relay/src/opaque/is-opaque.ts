/** Whether the resource of a name may depend on the node of the subscriber (B-RELAY-2): all but xdstp names, and so `*` too. */
export function isOpaque(name: string): boolean {
  return !name.startsWith("xdstp:");
}
