import type { ServerEvent } from "@xdstp/server";
import { typeFromTypeUrl } from "@xdstp/uri";

/** What clients have asked for since it was taken last, as `VirtualHost shops/one.example`. */
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
