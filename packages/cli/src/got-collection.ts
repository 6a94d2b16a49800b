import { XdsError } from "@xdstp/core";
import type { Way } from "./get.ts";
import type { ShownResource } from "./show-resources.ts";

/** What came. */
export interface Got {
  readonly resources: readonly ShownResource[];
  /** These are all. */
  readonly complete: boolean;
}

/** The members of a collection: all, or what had come when the time was over. Throws an XdsError where nothing came. */
export async function gotCollection({ asking, type, options: { asked: { name, typeUrl } }, signal }: Way): Promise<Got> {
  const watch = asking.client.watchAll(type, name, { signal });
  const resources = (): readonly ShownResource[] => [...watch.members.values()].map(({ name: own, version, value }) => ({ name: own, version, payload: { typeUrl, value } }));
  try {
    for await (const { complete, error } of watch) {
      if (error !== undefined && error.code !== "INVALID_ARGUMENT" && watch.members.size === 0) throw error;
      if (complete) return { resources: resources(), complete };
    }
  } catch (error) {
    if (!signal.aborted || watch.members.size === 0) throw error;
    return { resources: resources(), complete: false };
  }
  throw new XdsError("CANCELLED", "the client was closed");
}
