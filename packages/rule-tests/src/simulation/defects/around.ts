/** The same object, some of whose methods are others. */
export function around<T extends object>(inner: T, others: Partial<T>): T {
  return new Proxy(inner, {
    get(_, property) {
      if (Object.hasOwn(others, property)) return Reflect.get(others, property) as unknown;
      const value: unknown = Reflect.get(inner, property, inner);
      return typeof value === "function" ? (value.bind(inner) as unknown) : value;
    },
  });
}
