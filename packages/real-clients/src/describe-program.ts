import { describe, it } from "vitest";
import { type ProgramName, findProgram } from "./programs.ts";

/**
 * A suite with a real program. Where the program is missing the suite says so loudly and is not run; with CI=true that is a failure.
 * @param body - Registers the tests; gets the command with which the program is started
 */
export function describeProgram(
  name: ProgramName,
  suite: string,
  body: (command: string) => void,
): void {
  const program = findProgram(name);
  const title = `${name}: ${suite}`;
  if (program.found) {
    describe(title, { meta: { program: name, version: program.version, suite } }, () => {
      body(program.command);
    });
    return;
  }
  const notRun = `not run: ${program.reason}`;
  console.error(`\n!!!! ${title}: ${notRun}\n`);
  describe(title, { meta: { program: name, version: "", suite, notRun } }, () => {
    // In CI a missing program is a failed test. On a developer's machine its suite is skipped, since the program is optional there. The title of the skipped test has the reason.
    if (process.env.CI === "true")
      it("is installed", () => {
        throw new Error(notRun);
      });
    else it.skip(notRun, () => undefined);
  });
}

declare module "vitest" {
  interface TaskMeta {
    /** A program of another project, or `xdstp`. */
    readonly program?: ProgramName | "xdstp";
    readonly version?: string;
    readonly suite?: string;
    readonly notRun?: string;
  }
}
