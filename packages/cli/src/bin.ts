#!/usr/bin/env node
import module from "node:module";

// Before anything else is loaded: Node keeps the compiled code of all later modules in its cache folder (`NODE_COMPILE_CACHE`; off with `NODE_DISABLE_COMPILE_CACHE=1`). Before 22.8 it has no cache.
(module as Partial<Pick<typeof module, "enableCompileCache">>).enableCompileCache?.();
await import("./main.ts");
