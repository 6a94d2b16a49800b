import { root } from "@xdstp/tools/root";
import { type WorkspacePackage, readWorkspace } from "@xdstp/tools/workspace";

/** Every published package of the workspace, by name. */
export const publicPackages: ReadonlyMap<string, WorkspacePackage> = new Map(
  readWorkspace(root)
    .filter(({ isPublic }) => isPublic)
    .map((found) => [found.name, found]),
);

/** These packages and all workspace packages that they need, directly or not. */
export function withDependencies(...names: readonly string[]): readonly WorkspacePackage[] {
  const found = new Map<string, WorkspacePackage>();
  const visit = (wanted: string): void => {
    const known = publicPackages.get(wanted);
    if (known === undefined)
      throw new Error(`${wanted} is needed by ${names.join(", ")} and is not a public package`);
    if (found.has(wanted)) return;
    found.set(wanted, known);
    known.dependencies.forEach(visit);
  };
  names.forEach(visit);
  return [...found.values()];
}
