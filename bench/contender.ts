/** The servers that are measured: raw `node:http2` with one identical buffer, Connect with an async iterable, or xdstp. */
export type Contender = "floor" | "connect" | "xdstp";
