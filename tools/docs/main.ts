// npm run docs: writes the site of the documents and the API of all published packages to reports/docs. Fails for a dead link and for a warning of TypeDoc.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { Application, type NormalizedPath, OptionDefaults, type TypeDocOptions } from "typedoc";
import { root } from "../lib/root.ts";
import { type WorkspacePackage, readWorkspace } from "../lib/workspace.ts";
import { deadLinks } from "./dead-links.ts";
import { entryFiles } from "./entry-files.ts";
import { deadMarkdownLinks, markdownFiles } from "./markdown-links.ts";
import { documentsOf, writePage } from "./site-pages.ts";

const out = join(root, "reports/docs");
const common: Partial<TypeDocOptions> = {
  logLevel: "Warn",
  excludePrivate: true,
  excludeInternal: true,
  disableSources: true,
  highlightLanguages: [...OptionDefaults.highlightLanguages, "lua", "markdown", "toml"],
  ignoredHighlightLanguages: ["hex", "mermaid"],
};
const files = markdownFiles(root);
const packages = readWorkspace(root).filter(({ isPublic }) => isPublic);
const problems = [...deadMarkdownLinks(root, files)];

// TypeDoc reads copies of the Markdown, whose links lead to pages of the site or to the repository.
const folder = join(root, "reports/docs-sources");
const models = join(folder, "models");
rmSync(folder, { recursive: true, force: true });
mkdirSync(models, { recursive: true });
try {
  const documents = documentsOf(files);
  const readmes = ["README.md", ...packages.map(readmeOf)].map((path) => ({
    path,
    group: undefined,
  }));
  const pages = new Set([...documents, ...readmes].map(({ path }) => path));
  for (const page of [...documents, ...readmes])
    writePage(root, folder, page, pages, repositoryAddress());
  for (const found of packages) await writeModel(found);
  await writeSite(documents.map(({ path }) => path));
} finally {
  rmSync(folder, { recursive: true });
}
problems.push(...deadLinks(out));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`the documents are in ${join(relative(root, out), "index.html")}`);

/** Writes the model of one package: its entries, and its README as their page. */
async function writeModel(found: WorkspacePackage): Promise<void> {
  const app = await Application.bootstrap({
    ...common,
    name: found.name,
    entryPoints: [...entryFiles(found.folder)],
    tsconfig: join(found.folder, "tsconfig.json"),
    readme: join(folder, readmeOf(found)),
    compilerOptions: { skipLibCheck: true },
    // The gates check types and doc comments already.
    skipErrorChecking: true,
    validation: { notExported: false, invalidLink: false, notDocumented: false },
    // Generated messages name their source in it.
    blockTags: [...OptionDefaults.blockTags, "@generated"],
    excludeTags: ["@generated"],
  });
  const project = await app.convert();
  if (project === undefined) throw new Error(`${found.name} cannot be read`);
  const json = app.serializer.projectToObject(project, root as NormalizedPath);
  writeFileSync(join(models, `${basename(found.folder)}.json`), JSON.stringify(json));
  countWarnings(app, found.name);
}

async function writeSite(documents: readonly string[]): Promise<void> {
  const app = await Application.bootstrap({
    ...common,
    name: "xdstp",
    entryPointStrategy: "merge",
    entryPoints: [join(models, "*.json")],
    readme: join(folder, "README.md"),
    projectDocuments: documents.map((path) => join(folder, path)),
    navigation: { includeFolders: false, includeGroups: true },
    githubPages: false,
    hideGenerator: true,
    validation: { notExported: false, invalidLink: true, invalidPath: true },
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("the models cannot be merged");
  rmSync(out, { recursive: true, force: true });
  await app.generateDocs(project, out);
  countWarnings(app, "the site");
}

function countWarnings(app: Application, of: string): void {
  const count = app.logger.errorCount + app.logger.warningCount;
  if (count > 0) problems.push(`${of}: ${count} warnings of TypeDoc, see above`);
}

function readmeOf(found: WorkspacePackage): string {
  return relative(root, join(found.folder, "README.md")).replaceAll("\\", "/");
}

/** The page of the project, from the address of its repository in the root's package.json. */
function repositoryAddress(): string {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly repository: { readonly url: string };
  };
  return repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
}
