import type { FileRegistry } from "@bufbuild/protobuf";
import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { sizeDelimitedEncode } from "@bufbuild/protobuf/wire";
import type { Any } from "@bufbuild/protobuf/wkt";
import { AnySchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { spawnSync } from "node:child_process";

/** A violation that the generated code has found: the names of the fields in Go, and the reason. */
export interface PgvViolation {
  readonly path: readonly string[];
  readonly reason: string;
}

/** The messages that the program knows. They may be a little older than those of the image. */
export function pgvRegistry(command: string): FileRegistry {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, run(command, "descriptors")));
}

/** Returns the violations that `ValidateAll()` of go-control-plane reports for each message. */
export function pgvViolations(
  command: string,
  messages: readonly Pick<Any, "typeUrl" | "value">[],
): readonly (readonly PgvViolation[])[] {
  const input = Buffer.concat(
    messages.map((message) => sizeDelimitedEncode(AnySchema, create(AnySchema, message))),
  );
  return run(command, "check", input)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as PgvViolation[]);
}

function run(command: string, mode: string, input = Buffer.alloc(0)): Buffer {
  const { status, stdout, stderr } = spawnSync(command, [mode], {
    input,
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${command} ${mode} failed: ${stderr.toString()}`);
  return stdout;
}

/** The name that protoc-gen-go gives to a field. */
export function goName(name: string): string {
  return name
    .replace(/^_/u, "X")
    .replaceAll(/_(?=[a-z])/gu, " ")
    .replaceAll(/(?:^| |(?<=\d))[a-z]/gu, (letter) => letter.trim().toUpperCase());
}
