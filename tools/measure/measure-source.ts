import ts from "typescript";

/** The size of a source. */
export interface SourceMeasures {
  /** Lines that contain code. */
  readonly lines: number;
  /** Characters of these lines, without indentation. */
  readonly characters: number;
  /** Lines of code of each function that has a body. */
  readonly functions: readonly number[];
}

/** Measures a source of TypeScript. */
export function measureSource(text: string): SourceMeasures {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const code = new Set<number>();
  const functions: (readonly [first: number, last: number])[] = [];
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    const first = lineOf(node.getStart(source));
    const last = lineOf(node.getEnd());
    if (isFunction(node)) functions.push([first, last]);
    const children = node.getChildren(source).filter((child) => !ts.isJSDoc(child));
    if (children.length === 0 && node.getEnd() > node.getStart(source))
      for (let line = first; line <= last; line++) code.add(line);
    for (const child of children) visit(child);
  };
  visit(source);
  const lines = text.split("\n");
  return {
    lines: code.size,
    characters: [...code].reduce((sum, line) => sum + (lines[line] ?? "").trim().length, 0),
    functions: functions.map(([first, last]) => countWithin(code, first, last)),
  };
}

function isFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
}

function countWithin(code: ReadonlySet<number>, first: number, last: number): number {
  let count = 0;
  for (let line = first; line <= last; line++) if (code.has(line)) count++;
  return count;
}
