import { formatProblem } from "@xdstp/folder";
import type { MeshEvent } from "./mesh.ts";

/** An event as lines for people; none for what happens all the time. */
export function eventText(event: MeshEvent): readonly string[] {
  switch (event.kind) {
    case "loaded":
      return [
        `loaded ${event.resources} resources: ${event.put} changed, ${event.removed} removed`,
      ];
    case "rejected":
      return "problems" in event
        ? [
            ...event.problems.map(formatProblem),
            "not applied: what was there before is still served",
          ]
        : [];
    case "unreadable":
      return [formatProblem(event.problem)];
    case "kept":
    case "polling":
      return [event.message];
    case "nack":
      return [
        visible(
          `${event.stream.node?.id ?? event.stream.peer} rejected ${shortType(event.typeUrl)}: ${event.error.message}`,
        ),
      ];
    default:
      return [];
  }
}

/** The texts of a client may contain anything, also control characters of a terminal. */
export function visible(text: string): string {
  return text.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function shortType(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
}
