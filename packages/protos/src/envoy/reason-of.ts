const unknownType = /(\S+) is not in the type registry$/;

/** The text of an error of the protobuf library; for a type that is not known, with the way out. @internal */
export function reasonOf(error: unknown): string {
  if (isStackOverflow(error)) return "it is nested too deep";
  const reason = error instanceof Error ? error.message : String(error);
  const typeUrl = unknownType.exec(reason)?.[1]?.replaceAll('"', "");
  if (typeUrl === undefined) return reason;
  return `the type ${typeUrl} is not known; correct the name, or add the descriptors of the type (registryWith(), --descriptors FILE)`;
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes("call stack");
}
