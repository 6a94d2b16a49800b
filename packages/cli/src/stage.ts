import type { CliEvent } from "./cli-event.ts";
import type { Reporter } from "./reporter.ts";

/** Tells whoever shows it of an event. */
export type Tell = (shown: CliEvent) => void;

/** Events before the first reporter are kept, and shown when there is one. */
export function createStage(): { readonly tell: Tell; enter(reporter: Reporter): void } {
  let show: Tell | undefined;
  const early: CliEvent[] = [];
  return {
    tell(shown) {
      if (show === undefined) early.push(shown);
      else show(shown);
    },
    enter(reporter) {
      show = (shown) => {
        reporter.event(shown);
      };
      for (const shown of early.splice(0)) show(shown);
    },
  };
}
