import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { anyPack, StructSchema } from "@bufbuild/protobuf/wkt";
import type { Interest } from "@xdstp/core";
import type { ServerStream, TypeView } from "@xdstp/protocol/server";

import type { RowsOf } from "./client-config.ts";
import { typeConfig } from "./generic-configs.ts";

/**
 * A `client_features` entry of the caller, next to `xdstp.status.by-type`: each row of a type says in its `xds_config` what the client subscribes to.
 * It is a `Struct`: `variant` is `delta` or `sotw`; `service` is the type URL of a service of one type, absent on ADS; `list` is a number.
 * Rows with equal subscriptions have the same `list`. The first of them has `names` too; a name with dynamic parameters is an object of `name` and `parameters`.
 * The first row also has `sees` where a policy decides what the client may see: the names of existing resources that the subscriptions cover for it.
 */
export const SUBSCRIPTIONS = "xdstp.status.subscriptions";

/** The options of {@link rowsBySubscription}. */
export interface SubscriptionRowsOptions {
  /** Returns true if a policy decides what the client of a stream may see. */
  readonly isFiltered: (stream: ServerStream) => boolean;
  /** Returns true if the caller may see a name. */
  readonly allows: (typeUrl: string, name: string) => boolean;
}

/** Returns rows for each type with subscriptions, for one answer. */
export function rowsBySubscription(options: SubscriptionRowsOptions): RowsOf {
  const lists = new Map<string, number>();
  return function* rows(stream) {
    const views = new Map(stream.views().map((view) => [view.typeUrl, view]));
    const { variant, service } = stream.info;
    for (const status of stream.status().types) {
      const row = typeConfig(status);
      const view = views.get(status.typeUrl);
      if (view !== undefined)
        row.xdsConfig = anyPack(
          StructSchema,
          fromJson(StructSchema, {
            variant,
            ...(service !== undefined && { service }),
            ...listed(lists, listOf(view, stream, options)),
          }),
        );
      yield row;
    }
  };
}

function listed(lists: Map<string, number>, list: JsonObject): JsonObject {
  const text = JSON.stringify(list);
  const known = lists.get(text);
  if (known !== undefined) return { list: known };
  lists.set(text, lists.size);
  return { list: lists.size - 1, ...list };
}

function listOf(
  { typeUrl, topics }: TypeView,
  stream: ServerStream,
  { isFiltered, allows }: SubscriptionRowsOptions,
): JsonObject {
  const names = topics
    .map(({ interest }) => interest)
    .filter(({ name }) => allows(typeUrl, name))
    .map(nameOf);
  if (!isFiltered(stream)) return { names };
  const sees = new Set(
    topics
      .flatMap((topic) => topic.members())
      .flatMap(({ name, resource }) => (resource === undefined ? [] : [name])),
  );
  return { names, sees: [...sees].filter((name) => allows(typeUrl, name)) };
}

function nameOf({ name, parameters }: Interest): string | JsonObject {
  return parameters === undefined || parameters.size === 0
    ? name
    : { name, parameters: Object.fromEntries(parameters) };
}
