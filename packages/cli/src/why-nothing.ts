import type { XdsError } from "@xdstp/core";
import type { AskFlags } from "./ask-flags.ts";
import { type AskedName, ownTypeUrl } from "./asked-name.ts";
import type { AskClient, shownType } from "./ask-client.ts";
import type { FactsByName } from "./file-form.ts";
import { CliError, withoutNode } from "./cli-error.ts";
import { shortType } from "./short-type.ts";
import { withoutAlt } from "./shown-hop.ts";

/** The options of `xdstp get`. */
export interface GetOptions {
  readonly asked: AskedName;
  readonly ask: AskFlags;
  readonly output: "yaml" | "json" | "table";
  readonly showSecrets: boolean;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  readonly timeoutMs: number;
  /** The largest number of members of a collection. If there are more, the command fails. */
  readonly maxMembers: number;
}

/** The parts of one request. */
export interface Way {
  readonly asking: AskClient;
  readonly type: ReturnType<typeof shownType>;
  readonly options: GetOptions;
  /** The properties of all resources that have arrived. */
  readonly facts: FactsByName;
  readonly signal: AbortSignal;
}

/** Returns the error for a name without a resource. If the resource does not exist, the error names the server that said so, and the name that it was requested by. Call it while the name is still subscribed. */
export function whyNothing(
  { asking, options: { asked } }: Way,
  sent: string,
  error: XdsError | undefined,
): CliError | XdsError {
  const { name, typeUrl } = asked;
  if (error !== undefined && error.code !== "NOT_FOUND") return error;
  const text = withoutNode(error?.text ?? "");
  const last = asking.hops(ownTypeUrl(asked))(sent).at(-1);
  const cause = { cause: error };
  const reason = error?.context.reason;
  if (reason === "no-entry" || reason === "no-alternative") return new CliError(1, text, cause);
  const own = reason === "missing" || text === "" ? "" : ` (${text})`;
  if (last !== undefined)
    return new CliError(
      1,
      `${last.server} has no ${JSON.stringify(withoutAlt(last.to))}, where ${JSON.stringify(name)} leads${own}`,
      cause,
    );
  const kind = name.startsWith("xdstp:") ? "" : ` among its ${shortType(typeUrl)}`;
  return new CliError(
    1,
    `${asking.server(asked).server} has no ${JSON.stringify(name)}${kind}${own}`,
    cause,
  );
}
