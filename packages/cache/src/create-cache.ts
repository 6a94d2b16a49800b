import type { Cache, CacheOptions } from "./cache.ts";
import { CacheCore } from "./cache-core.ts";

/** Makes an empty cache. Without feeds it is ready with its first transaction, be it empty. */
export function createCache(options: CacheOptions = {}): Cache {
  return new CacheCore(options);
}
