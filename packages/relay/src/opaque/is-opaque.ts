/** Whether what a name stands for may depend on the node that asks (B-RELAY-2): all but xdstp names, and so `*` too. */
export function isOpaque(name: string): boolean {
  return !name.startsWith("xdstp:");
}
