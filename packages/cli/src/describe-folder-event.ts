import { type FolderEvent, formatProblem } from "@xdstp/folder";
import { counted, escapeText } from "./short-text.ts";
import type { Level, ReportLine } from "./reporter.ts";

/** The number of problems of one batch of edits that are shown. */
const shownProblems = 20;

type EventOf<Kind extends FolderEvent["kind"]> = Extract<FolderEvent, { kind: Kind }>;

/** Returns an event of the folder feed as lines of text. */
export function describeFolderEvent(event: FolderEvent): readonly ReportLine[] {
  switch (event.kind) {
    case "loaded":
      return loaded(event);
    case "rejected":
      return rejected(event);
    case "kept":
      return [line("error", "kept", keptText(event))];
    case "unreadable":
      return [
        line(
          "error",
          "not ready",
          `${formatProblem(event.problem)}; new streams are rejected until then`,
        ),
      ];
    case "polling":
      return [line("warning", "polling", event.message)];
    case "foreign-reference":
      return [
        line(
          "warning",
          "reference",
          `${formatProblem(event.problem)}${event.more === 0 ? "" : `; and ${event.more} more`}`,
        ),
      ];
  }
}

/** Explains why the last state is still served, and which option accepts the loss of resources. */
export function keptText({
  reason,
  directory,
  message,
  held,
  lost,
}: Pick<EventOf<"kept">, "reason" | "directory" | "message" | "held" | "lost">): string {
  if (reason === "emptied")
    return `${directory} is empty, as if a volume were not mounted: ${lost} of ${held} resources are missing; no edit is applied, and the last state is still served. Mount it or put the files back; if this is meant, leave an empty sub-folder in it, or start again with --allow-mass-delete`;
  if (reason === "unmounted")
    return `the volume at ${directory} is no longer mounted, and the directory under it has other content: ${lost} of ${held} resources are missing; no edit is applied, and the last state is still served. Mount it again; if the directory is meant, restart`;
  if (reason !== "mass-delete") return message;
  return `the folder lost ${lost} of ${held} resources at once; no edit is applied, and the last state is still served. Put them back, or, if it is meant, start again with --allow-mass-delete`;
}

function loaded({
  resources,
  older,
  files,
  revision,
  put,
  removed,
  problems,
  warnings,
}: EventOf<"loaded">): readonly ReportLine[] {
  const ofOlder = older === 0 ? "" : ` (${older} in an older version)`;
  const text = `${counted(resources, "resource")}${ofOlder} from ${counted(files, "file")}, revision ${revision}: ${put} put, ${removed} removed`;
  return [
    ...brokenLines(problems),
    line("good", "loaded", text),
    ...(problems.length === 0
      ? []
      : [line("error", "partial", `${counted(problems.length, "problem")}; ${partialText}`)]),
    ...warnings
      .slice(0, shownProblems)
      .map((warning) => line("warning", "warning", formatProblem(warning))),
  ];
}

const partialText = "what is good of these edits is applied; what is broken stays as it was";

function rejected({ problems, serving }: EventOf<"rejected">): readonly ReportLine[] {
  const outcome = serving
    ? "nothing of these edits is applied; the last good state is still served"
    : "not ready: nothing is served and new streams are rejected until it is fixed";
  return [
    ...brokenLines(problems),
    line("error", "rejected", `${counted(problems.length, "problem")}; ${outcome}`),
  ];
}

function brokenLines(problems: EventOf<"rejected">["problems"]): readonly ReportLine[] {
  const shown = problems
    .slice(0, shownProblems)
    .map((problem) => line("error", "broken", formatProblem(problem)));
  const more = problems.length - shown.length;
  return more > 0
    ? [...shown, line("error", "broken", `and ${counted(more, "problem")} more`)]
    : shown;
}

function line(level: Level, label: string, text: string): ReportLine {
  return { level, label, text: escapeText(text) };
}
