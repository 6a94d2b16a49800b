import { XdsError } from "@xdstp/core";
import { logLine, type LogLevel } from "@xdstp/server";
import type { CliEvent } from "./cli-event.ts";
import { describeEvent } from "./describe-event.ts";
import { jsonText } from "./json-text.ts";

type OwnEvent = Exclude<CliEvent, { readonly from: "server" }>;

/** One event as one line of JSON: `schema`, `time` in ISO 8601, `level`, `from`, `event` (its kind), and what the event holds; those of the server as `logEvents` writes them. Control characters are escaped (S-ACK-15). */
export function jsonEvent(shown: CliEvent, time: number): string {
  const line = shown.from === "server" ? logLine(shown.event, time) : ownLine(shown, time);
  const { worker, more } = shown;
  return jsonText({
    ...line,
    ...(worker !== undefined && { worker }),
    ...(more !== undefined && { more }),
  });
}

function ownLine(shown: OwnEvent, time: number): object {
  const {
    from,
    event: { kind, ...rest },
  } = shown;
  const fields = Object.entries(rest).map(
    ([name, value]) => [name === "typeUrl" ? "type" : name, plain(value)] as const,
  );
  return {
    time: new Date(time).toISOString(),
    level: levelOf(shown),
    from,
    event: kind,
    ...Object.fromEntries(fields),
  };
}

/** The highest level of its lines for people. */
function levelOf(shown: OwnEvent): LogLevel {
  const said = describeEvent(shown).map(({ level }) => level);
  return (["error", "warning"] as const).find((level) => said.includes(level)) ?? "info";
}

function plain(value: unknown): unknown {
  if (value instanceof XdsError) {
    const { code, text, context } = value;
    return { code, message: text, ...(context.rule !== undefined && { rule: context.rule }) };
  }
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
    : value;
}
