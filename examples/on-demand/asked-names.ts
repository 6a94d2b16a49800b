import type { ServerEvent } from "@xdstp/server";
import { typeFromTypeUrl } from "@xdstp/uri";

/** The names that clients have requested since they were taken last, as `VirtualHost shops/one.example`. */
export interface AskedNames {
  readonly note: (event: ServerEvent) => void;
  readonly take: () => string[];
}

/** Nothing has been asked for yet. */
export function createAskedNames(): AskedNames {
  const names: string[] = [];
  return {
    note(event) {
      if (event.kind !== "subscribe") return;
      const type = (typeFromTypeUrl(event.typeUrl) ?? event.typeUrl).replace(/^.*\./, "");
      for (const name of event.added) names.push(`${type} ${name}`);
    },
    take: () => names.splice(0),
  };
}
