/** How much an operator should mind. */
export type Level = "good" | "info" | "warning" | "error";

/** One line for people. `text` is escaped, and as long as it is. */
export interface ReportLine {
  readonly level: Level;
  /** What happened, in one word. */
  readonly label: string;
  readonly text: string;
}
