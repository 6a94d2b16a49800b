const prefix = "type.googleapis.com/";

/** The type URL of a message: `type.googleapis.com/` and its full name. For whoever puts a resource under a type. */
export function typeUrlFromName(typeName: string): string {
  return prefix + typeName;
}

/** The full name of the message that a type URL means: what stands after its last slash. A plain name comes back as it is. */
export function typeNameFromUrl(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
