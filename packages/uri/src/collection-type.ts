const suffix = "Collection";

/** The type of the list collections of a type (B-LIST-1): `<T>Collection`. Takes and gives a resource type or a type URL. */
export function collectionTypeOf(memberType: string): string {
  return memberType + suffix;
}

/** The type of the members of a list collection, the way back from {@link collectionTypeOf}; undefined when the type is not a collection's. */
export function memberTypeOf(collectionType: string): string | undefined {
  return /[\w-]Collection$/.test(collectionType)
    ? collectionType.slice(0, -suffix.length)
    : undefined;
}
