import { describe, expect, it } from "vitest";
import { clientRows, otherRows, type Client, type Print } from "../test/client-prints.ts";
import { sectionOfNames } from "../test/docs.ts";
import { errorOf } from "../test/parsed.ts";
import { nameKey } from "./name-key.ts";
import { parseLocator } from "./parse-locator.ts";
import { parseName } from "./parse-name.ts";

/** The first and the last column of the table in the rule book, without its head. */
const table = [...sectionOfNames(12).matchAll(/^\| (.+?) \|.*\| (.+?) \|$/gm)]
  .slice(1)
  .map(([, first = "", ours = ""]) => ({ first, ours }));

const cells = clientRows.flatMap(({ input, clients }) =>
  Object.entries(clients).map(([client, print]) => ({ input, client: client as Client, print })),
);
const same = cells.filter(
  (cell): cell is typeof cell & { print: { prints: string } } =>
    "prints" in cell.print && !("changes" in cell.print),
);
const changed = cells.filter(
  (cell): cell is typeof cell & { print: Extract<Print, { changes: string }> } =>
    "changes" in cell.print,
);

describe("what the five clients print (section 12)", () => {
  it("is the table of the rule book, row by row", () => {
    expect(clientRows.map(({ row, says }) => ({ first: row, ours: says }))).toEqual(
      table.filter(({ first }) => !otherRows.includes(first)),
    );
    expect(otherRows.filter((row) => !table.some(({ first }) => first === row))).toEqual([]);
  });

  it.each(same)(
    "$client: $input, printed as $print.prints, has one key [N-40] [N-41]",
    ({ input, print }) => {
      expect(nameKey(print.prints)).toBe(nameKey(input));
    },
  );

  it.each(changed)(
    "$client changes $input itself: $print.changes (exception)",
    ({ input, print }) => {
      if (print.prints !== undefined) expect(nameKey(print.prints)).not.toBe(nameKey(input));
    },
  );

  it.each(clientRows)("ours of $input: $says [N-39]", ({ input, ours }) => {
    expect(parseName(input).ok).toBe(ours !== undefined);
    expect(nameKey(input)).toBe(ours ?? input);
  });

  it("a directive given twice is an error [N-15]", () => {
    expect(errorOf(parseLocator("xdstp://foo/t/x#alt=file:///y,alt=file:///y")).code).toBe(
      "directive-duplicate",
    );
  });
});
