import { create, toBinary } from "@bufbuild/protobuf";
import { lengthDelimited } from "@xdstp/core/wire";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { clusters } from "@xdstp/resource-types/envoy";

import { authority, type Http, type } from "./use-http.ts";

/** The name of the list of {@link putList}. */
export const listName = `xdstp://${authority}/${type}Collection/all`;

/** Puts a list collection of clusters: located members first, then one that is in the list. */
export function putList(
  http: Http,
  members: {
    readonly located: readonly string[];
    readonly inline: { readonly name: string; readonly seconds: number };
  },
): void {
  const { name, seconds } = members.inline;
  const message = create(ClusterSchema, { name, connectTimeout: { seconds: BigInt(seconds) } });
  const any = join(
    lengthDelimited(1, clusters.typeUrl),
    lengthDelimited(2, toBinary(ClusterSchema, message)),
  );
  const inline = join(
    lengthDelimited(1, name),
    lengthDelimited(2, String(seconds)),
    lengthDelimited(3, any),
  );
  http.cache.put({
    typeUrl: `${clusters.typeUrl}Collection`,
    name: listName,
    value: join(
      ...members.located.map((locator) => lengthDelimited(1, lengthDelimited(1, locator))),
      lengthDelimited(1, lengthDelimited(2, inline)),
    ),
  });
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
