import { type StatusName, XdsError } from "@xdstp/core";
import type { StreamInfo } from "@xdstp/protocol/server";
import type { CliEvent } from "../cli-event.ts";
import type { Look } from "./messages.ts";

interface PlainError {
  readonly xdsError: StatusName;
  readonly text: string;
  readonly rule?: string | undefined;
}

/** An event as data, which another process can read: errors of ours would lose what they are, and what only this process can use is left out. */
export function plainEvent(shown: CliEvent): CliEvent {
  const { event } = shown;
  const known = "stream" in event ? { stream: infoOf(event.stream), held: undefined } : {};
  return plain({ ...shown, event: { ...event, ...known } }) as CliEvent;
}

/** The same with errors that are errors again. */
export function realEvent(shown: CliEvent): CliEvent {
  return mapDeep(shown, realError) as CliEvent;
}

/** The same of what is looked at. */
export function realLook(look: Look): Look {
  return mapDeep(look, realError) as Look;
}

/** A status as data, by the same rule. */
export function plain(value: unknown): unknown {
  return mapDeep(value, (one) =>
    one instanceof XdsError
      ? ({ xdsError: one.code, text: one.text, rule: one.context.rule } satisfies PlainError)
      : undefined,
  );
}

function realError(one: object): XdsError | undefined {
  if (!("xdsError" in one)) return undefined;
  const { xdsError, text, rule } = one as PlainError;
  return new XdsError(xdsError, text, { rule });
}

/** What is behind a stream stays here. */
function infoOf({ id, variant, peer, node, service, identity }: StreamInfo): StreamInfo {
  return {
    id,
    variant,
    peer,
    node,
    ...(service !== undefined && { service }),
    ...(identity !== undefined && { identity }),
  };
}

function mapDeep(value: unknown, change: (value: object) => unknown): unknown {
  if (typeof value === "function") return undefined;
  if (typeof value !== "object" || value === null) return value;
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((one) => mapDeep(one, change));
  if (Object.getPrototypeOf(value) !== Object.prototype)
    return value instanceof Uint8Array || value instanceof Error ? value : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapDeep(one, change)]),
  );
}
