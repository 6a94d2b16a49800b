import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const bin = join(import.meta.dirname, "bin.ts");
/** Prints each module that is loaded. */
const hooks = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      process.stderr.write(url + "\\n");
      return next(url, context);
    },
  });
`)}`;

function modulesOf(...argv: readonly string[]): readonly string[] {
  const { stderr, status } = spawnSync(
    process.execPath,
    ["--conditions=@xdstp/source", "--import", hooks, bin, ...argv],
    { encoding: "utf8" },
  );
  expect(status).toBe(0);
  return stderr.split("\n").filter((line) => line.startsWith("file:"));
}

it.each(["--version", "--help", "help serve", "bootstrap grpc", "validate --explain syntax"])(
  "starts without servers, clients and gRPC for what needs none: %s",
  (call) => {
    const modules = modulesOf(...call.split(" "));
    expect(modules.length).toBeGreaterThan(10);
    expect(
      modules.filter((url) => /\/packages\/(?:server|client|grpc|relay)\/|connectrpc/.test(url)),
    ).toEqual([]);
  },
);

it.each(["--version", "--help", "help validate", "bootstrap grpc"])(
  "starts without messages and parsers for what needs none: %s",
  (call) => {
    const modules = modulesOf(...call.split(" "));
    expect(modules.filter((url) => /bufbuild|js-yaml|\/yaml\//.test(url))).toEqual([]);
  },
);

it("reads a file without problems without the parser that is for their positions", () => {
  const file = join(
    import.meta.dirname,
    "../../../examples/mesh/config/mesh.example/clusters/blue.yaml",
  );
  const modules = modulesOf("validate", file);
  expect(modules.filter((url) => url.includes("/js-yaml/"))).toHaveLength(1);
  expect(modules.filter((url) => url.includes("/node_modules/yaml/"))).toEqual([]);
});
