import ts from "typescript";

/**
 * Adds to each function of a source a note of its beginning and of its end on the global `noteCall`.
 * Async functions and generators stay as they are: such a call does not end before the next one begins.
 * @param place - The package, and what tells its files apart
 */
export function instrument(text: string, place: string): string {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const inserts: (readonly [at: number, text: string])[] = [];
  // A text that is added first at a place ends up behind one that is added there later: the end of a function comes after those of the functions in it.
  const visit = (node: ts.Node): void => {
    const body = bodyOf(node);
    if (body !== undefined) {
      const begin = `const end_=noteCall(${JSON.stringify(`${place}#${nameOf(node, source)}`)});try{`;
      const [start, end] = [body.getStart(source), body.getEnd()];
      if (ts.isBlock(body)) inserts.push([end - 1, "}finally{end_()}"], [start + 1, begin]);
      else inserts.push([end, ")}finally{end_()}}"], [start, `{${begin}return (`]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return inserts
    .sort(([a], [b]) => b - a)
    .reduce((code, [at, insert]) => code.slice(0, at) + insert + code.slice(at), text);
}

function bodyOf(node: ts.Node): ts.ConciseBody | undefined {
  if (!ts.isFunctionLike(node) || !("body" in node)) return undefined;
  const isGenerator = (node as Partial<ts.FunctionDeclaration>).asteriskToken !== undefined;
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  const isAsync = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
  return isGenerator || isAsync ? undefined : node.body;
}

/** An arrow function without a name belongs to the function around it. */
function nameOf(node: ts.Node, source: ts.SourceFile): string {
  for (let at = node; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isConstructorDeclaration(at)) return `new ${at.parent.name?.text ?? "class"}`;
    if (!(ts.isFunctionLike(at) || ts.isVariableDeclaration(at) || ts.isPropertyAssignment(at)))
      continue;
    if (at.name !== undefined) return at.name.getText(source);
  }
  return "module";
}
