import { isDeeperThan, maxMetadataDepth } from "@xdstp/core";
import type { JsonObject, JsonValue } from "./bootstrap.ts";
import { asObject, wrongAt, type Place, type Placed } from "./place.ts";

const maxCharacters = 4 * 1024 * 1024;

/** The object in a text. Throws an XdsError that says where it is broken, but shows nothing of it: metadata may be secret. */
export function parseJson(text: string, source: string): Placed<JsonObject> {
  const place: Place = { source, path: "" };
  if (text.length > maxCharacters)
    throw wrongAt(place, `has ${text.length} characters; at most ${maxCharacters} are read`);
  return checkedDepth({ value: parse(text.replace(/^\uFEFF/, ""), place), place });
}

/** The same for JSON that is parsed already. */
export function checkedDepth(json: Placed<JsonValue>): Placed<JsonObject> {
  if (isDeeperThan(json.value, maxMetadataDepth))
    throw wrongAt(
      json.place,
      `nests deeper than ${maxMetadataDepth} levels; no bootstrap needs more`,
    );
  return asObject(json);
}

function parse(text: string, place: Place): JsonValue {
  if (text.trim() === "") throw wrongAt(place, "is empty; give a JSON object with xds_servers");
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    // V8 does not always say where, and else only by a piece of the text.
    const where = /line \d+ column \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw wrongAt(
      place,
      `is not JSON${where === undefined ? "" : ` at ${where}`}; comments, and commas before a bracket, are not allowed in it`,
    );
  }
}
